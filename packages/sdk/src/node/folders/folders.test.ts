import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { appendFile, mkdir, readdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Middleware } from "../../http/transports.ts";
import { downloadFolder, syncFolder, uploadFolder } from "./index.ts";
import { acts, codes, fill, OLD, openTree, read, TREE } from "./tree.test-kit.ts";

const MIB = 1024 * 1024;
const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
const writes = (lines: readonly string[]): string[] => lines.filter((line) => !line.startsWith("GET"));

describe("a folder there and back", () => {
  it("is the same tree, with empty folders and a receipt for each file [D5-folder-there-and-back]", async () => {
    const { client, copy, options, root } = await openTree();
    const planned = await uploadFolder(client, root, { ...options, dryRun: true });
    expect(planned).toMatchObject({ dryRun: true, plan: { create: 3, folders: 3, bytes: 11 } });
    expect((await client.files.list({ vaultId: options.vaultId })).files).toEqual([]);
    const progress: unknown[] = [];
    const sent = await uploadFolder(client, root, { ...options, onProgress: (at) => progress.push(at) });
    expect(sent).toMatchObject({ plan: planned.plan, failed: [], skipped: [] });
    expect(progress.at(-1)).toMatchObject({ files: 3, totalFiles: 3, bytes: 11, totalBytes: 11 });
    for (const { fileId, path, sha256, size, versionId } of sent.files) {
      const content = TREE[path as "a.txt"];
      expect({ sha256, size }).toEqual({ sha256: digest(content), size: content.length });
      expect(await client.files.get(fileId ?? "")).toMatchObject({ versionId, sha256 });
    }
    expect(sent.folders.map(({ act, path }) => `${act} ${path}`).sort()).toEqual([
      ...["created deep", "created deep/er", "created deep/er/empty"],
    ]);
    const got = await downloadFolder(client, copy, options);
    expect(await read(copy)).toEqual(TREE);
    expect(acts(got)).toEqual({ "a.txt": "created", "deep/b.txt": "created", "deep/er/c.bin": "created" });
    expect((await stat(join(copy, "a.txt"))).mode & 0o777).toBe(0o600);
    const below = await downloadFolder(client, join(copy, "below"), {
      ...options,
      folderId: sent.folders[0]?.folderId ?? "",
    });
    expect(await read(join(copy, "below"))).toEqual({ "b.txt": "two", "er/c.bin": "three", "er/empty/": "" });
    expect(below.failed).toEqual([]);
  });

  it("reads and sends nothing of what is unchanged, and by digest what only has another time [D5-folder-unchanged]", async () => {
    const { client, lines, options, root, storeDirectory } = await openTree();
    await uploadFolder(client, root, options);
    lines();
    const again = await uploadFolder(client, root, options);
    expect(new Set(Object.values(acts(again)))).toEqual(new Set(["unchanged"]));
    expect(writes(lines())).toEqual([]);
    // The journal decides while size and times are the same: also where nothing could be read.
    execFileSync("rm", ["-r", storeDirectory]);
    await utimes(join(root, "a.txt"), new Date(), OLD);
    const compared = await uploadFolder(client, root, options);
    expect(acts(compared)).toEqual(acts(again));
    expect(compared.files.map(({ sha256 }) => sha256).sort()).toEqual(again.files.map(({ sha256 }) => sha256).sort());
    expect(writes(lines())).toEqual([]);
  });

  it("never replaces what differs, on either side, unless told", async () => {
    const { client, copy, options, root } = await openTree();
    await uploadFolder(client, root, options);
    await downloadFolder(client, copy, options);
    await writeFile(join(root, "a.txt"), "ONE");
    expect(codes(await uploadFolder(client, root, options))).toEqual({ "a.txt": "destination_exists" });
    const replaced = await uploadFolder(client, root, { ...options, overwrite: true });
    expect(acts(replaced)["a.txt"]).toBe("replaced");
    expect(codes(await downloadFolder(client, copy, options))).toEqual({ "a.txt": "destination_exists" });
    expect(await readFile(join(copy, "a.txt"), "utf8")).toBe("one");
    const fetched = await downloadFolder(client, copy, { ...options, overwrite: true });
    expect(fetched.failed).toEqual([]);
    expect(await read(copy)).toEqual({ ...TREE, "a.txt": "ONE" });
  });
});

describe("syncFolder", () => {
  it("replaces what only the sending side changed, and not what the other one changed", async () => {
    const { client, copy, options, root } = await openTree();
    const up = { ...options, direction: "up" } as const;
    const down = { ...options, direction: "down" } as const;
    await syncFolder(client, root, up);
    await syncFolder(client, copy, down);
    await writeFile(join(root, "a.txt"), "ONE");
    const sent = await syncFolder(client, root, up);
    expect([sent.failed, acts(sent)["a.txt"]]).toEqual([[], "replaced"]);
    const fetched = await syncFolder(client, copy, down);
    expect([fetched.failed, await readFile(join(copy, "a.txt"), "utf8")]).toEqual([[], "ONE"]);
    // Now both sides change it, each in its own way.
    await client.files.replace(sent.files.find(({ path }) => path === "a.txt")?.fileId ?? "", { body: "theirs" });
    await writeFile(join(root, "a.txt"), "mine");
    await writeFile(join(copy, "a.txt"), "mine");
    expect(codes(await syncFolder(client, root, up))).toEqual({ "a.txt": "destination_exists" });
    expect(codes(await syncFolder(client, copy, down))).toEqual({ "a.txt": "destination_exists" });
    expect(await readFile(join(copy, "a.txt"), "utf8")).toBe("mine");
    expect((await syncFolder(client, copy, { ...down, overwrite: true })).failed).toEqual([]);
    expect(await readFile(join(copy, "a.txt"), "utf8")).toBe("theirs");
  });

  it("puts into the trash what was deleted here, only when asked, and only what nobody changed there [D5-folder-sync]", async () => {
    const { client, options, root, vaultId } = await openTree();
    const up = { ...options, direction: "up" } as const;
    await fill(root, { "gone/x": "x", "gone/y/z": "z", "kept/mine": "m" });
    const { files } = await syncFolder(client, root, up);
    const idOf = (path: string): string => files.find((file) => file.path === path)?.fileId ?? "";
    await client.files.upload({ vaultId, name: "theirs", body: "t" });
    await client.files.replace(idOf("kept/mine"), { body: "newer" });
    for (const path of ["gone", "kept", "a.txt"]) await rm(join(root, path), { recursive: true });
    expect((await syncFolder(client, root, up)).plan.remove).toBe(0);
    const planned = await syncFolder(client, root, { ...up, delete: true, dryRun: true });
    const removed = await syncFolder(client, root, { ...up, delete: true });
    expect([removed.plan, removed.failed]).toEqual([planned.plan, []]);
    expect(acts(removed)).toMatchObject({ "a.txt": "removed", "gone/x": "removed", "gone/y/z": "removed" });
    expect(removed.skipped).toEqual([
      { path: "theirs", reason: "unknown_here" },
      { path: "kept/mine", reason: "changed_there" },
    ]);
    const live = (await client.files.list({ vaultId })).files.map(({ name }) => name).sort();
    expect(live).toEqual(["b.txt", "c.bin", "mine", "theirs"]);
    expect((await client.files.get(idOf("gone/y/z"))).trashedAt).not.toBeNull();
    expect((await syncFolder(client, root, { ...up, delete: true })).plan.remove).toBe(0);
  });

  it("goes on in a folder that somebody else made after the list, and replaces no file of theirs [issue 52]", async () => {
    const { client, connect, options, root } = await openTree();
    const { vaultId } = options;
    const fast: Middleware = async (request, next, { endpointId }) => {
      if (endpointId === "folders.create" && (await client.folders.list({ vaultId })).folders.length === 0) {
        const { id: folderId } = await client.folders.create({ vaultId, name: "deep" });
        await client.files.upload({ vaultId, folderId, name: "b.txt", body: "theirs" });
      }
      return next(request);
    };
    const sent = await uploadFolder(connect({ middleware: [fast] }), root, options);
    expect(codes(sent)).toEqual({ "deep/b.txt": "name_exists" });
    expect(acts(sent)).toEqual({ "a.txt": "created", "deep/er/c.bin": "created" });
    expect((await client.folders.list({ vaultId, name: "deep", parentId: "root" })).folders).toHaveLength(1);
    // The next run compares the two.
    expect(codes(await uploadFolder(client, root, options))).toEqual({ "deep/b.txt": "destination_exists" });
  });

  it("leaves out of the trash what somebody changed after the list [issue 52]", async () => {
    const { client, connect, options, root } = await openTree();
    const up = { ...options, direction: "up" } as const;
    const { files } = await syncFolder(client, root, up);
    const fileId = files.find(({ path }) => path === "a.txt")?.fileId ?? "";
    const fast: Middleware = async (request, next, { endpointId }) => {
      if (endpointId === "files.trashMany") await client.files.replace(fileId, { body: "newer" });
      return next(request);
    };
    await rm(join(root, "a.txt"));
    const removed = await syncFolder(connect({ middleware: [fast] }), root, { ...up, delete: true });
    expect(codes(removed)).toEqual({ "a.txt": "precondition_failed" });
    expect((await client.files.get(fileId)).trashedAt).toBeNull();
  });

  it("deletes here what is gone there, only when asked, and only what sync has put here [D5-folder-sync]", async () => {
    const { client, copy, options, root, vaultId } = await openTree();
    await fill(root, { "gone/x": "x", "gone/y/z": "z", "mixed/mine": "m", "old name": "o", "moved/out": "b" });
    const { files, folders } = await syncFolder(client, root, { ...options, direction: "up" });
    const fileAt = (path: string): string => files.find((file) => file.path === path)?.fileId ?? "";
    const folderAt = (path: string): string => folders.find((folder) => folder.path === path)?.folderId ?? "";
    const { id: elsewhere } = await client.folders.create({ vaultId, name: "elsewhere" });
    const down = { ...options, direction: "down" } as const;
    await syncFolder(client, copy, down);
    await fill(copy, { "mixed/ours": "ours", "mixed/empty/": "" });
    await writeFile(join(copy, "deep/b.txt"), "changed here");
    await client.files.trashMany([folderAt("gone"), fileAt("mixed/mine"), fileAt("deep/b.txt")]);
    await client.files.delete(fileAt("a.txt"), { permanent: true });
    await client.files.update(fileAt("old name"), { name: "new name" });
    await client.folders.update(folderAt("moved"), { parentId: elsewhere });
    const before = await read(copy);
    expect((await syncFolder(client, copy, { ...down, dryRun: true })).plan.remove).toBe(0);
    const planned = await syncFolder(client, copy, { ...down, delete: true, maxDelete: 6, dryRun: true });
    expect(await read(copy)).toEqual(before);
    const removed = await syncFolder(client, copy, { ...down, delete: true, maxDelete: 6 });
    expect([removed.plan, removed.failed]).toEqual([planned.plan, []]);
    // Folders are walked in the order in which the disk answers, which two walks need not share.
    expect(removed.skipped).toHaveLength(planned.skipped.length);
    expect(removed.skipped).toEqual(expect.arrayContaining([...planned.skipped]));
    expect(removed.skipped).toEqual(
      expect.arrayContaining([
        { path: "deep/b.txt", reason: "changed_here" },
        { path: "mixed/ours", reason: "unknown_there" },
      ]),
    );
    expect(await read(copy)).toEqual({
      "deep/b.txt": "changed here",
      "deep/er/c.bin": "three",
      "deep/er/empty/": "",
      "elsewhere/moved/out": "b",
      "mixed/empty/": "",
      "mixed/ours": "ours",
      "new name": "o",
    });
    expect((await syncFolder(client, copy, { ...down, delete: true, maxDelete: 6 })).plan.remove).toBe(0);
  });

  it("deletes nothing that a list merely leaves out, nor through a link [D5-folder-sync]", async () => {
    const { base, client, connect, copy, options, root } = await openTree();
    await syncFolder(client, root, { ...options, direction: "up" });
    const down = { ...options, direction: "down", delete: true } as const;
    await syncFolder(client, copy, down);
    const hiding: Middleware = async (request, next) => {
      const answer = await next(request);
      if (!/\/api\/(files|folders)$/.test(new URL(request.url).pathname)) return answer;
      const body = (await answer.json()) as object;
      return Response.json({ ...body, ...("files" in body ? { files: [] } : { folders: [] }) });
    };
    const lied = await syncFolder(connect({ middleware: [hiding] }), copy, down);
    expect([lied.plan.remove, lied.skipped.length, lied.failed]).toEqual([0, 3, []]);
    expect(await read(copy)).toEqual(await read(root));
    const outside = join(base, "outside");
    await rename(join(copy, "deep"), outside);
    await symlink(outside, join(copy, "deep"));
    const { folders } = await client.folders.list({ vaultId: options.vaultId });
    await client.files.trashMany(folders.filter(({ name }) => name === "deep").map(({ id }) => id));
    expect((await syncFolder(client, copy, down)).plan.remove).toBe(0);
    expect(Object.keys(await read(outside))).toContain("b.txt");
  });
});

describe("a hostile tree", () => {
  it("is read without its links, pipes and unfit names, and never outside", async () => {
    const { base, client, options, root, vaultId } = await openTree();
    await writeFile(join(base, "secret"), "secret");
    await symlink(join(base, "secret"), join(root, "link"));
    await symlink(base, join(root, "deep", "out"));
    execFileSync("mkfifo", [join(root, "pipe")]);
    await fill(root, { "back\\slash": "x", " space": "x", "e\u0301": "x", "\u00e9": "y", "deep/new\nline": "x" });
    const result = await uploadFolder(client, root, options);
    expect(result.skipped.map(({ path, reason }) => `${path} ${reason}`).sort()).toEqual([
      ...["deep/out link", "link link", "pipe special"],
    ]);
    expect(codes(result)).toEqual({
      " space": "invalid_name",
      "back\\slash": "invalid_name",
      "deep/new\nline": "invalid_name",
      "\u00e9": "name_collision",
    });
    const stored = (await client.files.list({ vaultId })).files.map(({ name }) => name).sort();
    expect(stored).toEqual(["a.txt", "b.txt", "c.bin"]);
  });

  it("sends no other file than the one that was looked at [D5-folder-contained]", async () => {
    const { base, connect, options, root, vaultId } = await openTree();
    await fill(join(base, "elsewhere"), { "b.txt": "secret" });
    // After the directories were read, one of them becomes a link that leads out.
    const swap: Middleware = async (request, next) => {
      if (request.method === "POST" && request.url.endsWith("/api/folders")) {
        await rename(join(root, "deep"), join(base, "aside")).catch(() => undefined);
        await symlink(join(base, "elsewhere"), join(root, "deep")).catch(() => undefined);
      }
      return next(request);
    };
    const client = connect({ middleware: [swap] });
    const result = await uploadFolder(client, root, options);
    expect(codes(result)).toEqual({ "deep/b.txt": "source_changed" });
    expect(result.skipped).toEqual([{ path: "deep/er/c.bin", reason: "gone" }]);
    expect((await client.files.list({ vaultId })).files.map(({ name }) => name)).toEqual(["a.txt"]);
  });

  it("sends logs that grow as far as they went, and leaves out what goes away meanwhile", async () => {
    const { client, connect, options, root } = await openTree();
    const [small, large] = [join(root, "small.log"), join(root, "large.log")];
    await writeFile(small, "one\n");
    await writeFile(large, Buffer.alloc(17 * MIB, "a"));
    let isGone = false;
    const busy: Middleware = async (request, next) => {
      for (const log of [small, large]) await appendFile(log, "more\n");
      if (!isGone && request.method === "POST") await rm(join(root, "deep", "b.txt"), { force: true });
      isGone ||= request.method === "POST";
      return next(request);
    };
    const result = await uploadFolder(connect({ middleware: [busy] }), root, { ...options, lanes: 1 });
    expect(result.failed).toEqual([]);
    expect(result.skipped).toEqual([{ path: "deep/b.txt", reason: "gone" }]);
    for (const { fileId, path, size } of result.files.filter(({ path: each }) => each.endsWith(".log"))) {
      const kept = await readFile(join(root, path));
      expect(Buffer.from(await (await client.files.download(fileId ?? "")).bytes())).toEqual(kept.subarray(0, size));
      expect(size).toBeLessThan(kept.length);
    }
  });

  it("names the file that changes while it is read, and sends the others [D5-folder-failures]", async () => {
    const { connect, fake, options, root } = await openTree();
    const large = join(root, "large.bin");
    await writeFile(large, Buffer.alloc(17 * MIB));
    // Again and again, since nobody sees from here when a byte is read first.
    const change: Middleware = async (request, next) => {
      if (request.method !== "PATCH") return next(request);
      let isAnswered = false;
      const answer = next(request).finally(() => (isAnswered = true));
      for (let turn = 0; !isAnswered; turn += 1) await writeFile(large, String(turn % 10), { flag: "r+" });
      return answer;
    };
    const result = await uploadFolder(connect({ middleware: [change] }), root, options);
    expect(result.failed).toMatchObject([{ path: "large.bin", code: "source_changed" }]);
    expect(Object.values(acts(result))).toEqual(["created", "created", "created"]);
    expect([fake.state.files.size, fake.state.uploads.size]).toEqual([3, 0]);
  });
});

/** Of a download that was cut off: what has such a name is removed. */
const LEFTOVER = `.coffer-1-${"0".repeat(12)}-${"0".repeat(12)}-${"0".repeat(12)}-${crypto.randomUUID()}.part`;

describe("a hostile service", () => {
  /** Answers lists with other names. */
  const renamed =
    (names: Readonly<Record<string, string>>): Middleware =>
    async (request, next) => {
      const answer = await next(request);
      if (request.method !== "GET" || !/\/api\/(?:files|folders)$/.test(new URL(request.url).pathname)) return answer;
      let text = await answer.text();
      for (const [from, to] of Object.entries(names))
        text = text.replaceAll(`"name":"${from}"`, `"name":${JSON.stringify(to)}`);
      return new Response(text, { status: answer.status, headers: answer.headers });
    };

  it.each(["..", ".", "", "../../out", "/etc/out", "a\\..\\out", "nul\0byte", ".coffer-x\u0001", LEFTOVER])(
    "cannot write outside of the directory by the name %j [D5-folder-contained]",
    async (name) => {
      const { base, client, connect, copy, options, root } = await openTree();
      await uploadFolder(client, root, options);
      const lying = connect({ middleware: [renamed({ "a.txt": name, deep: name })] });
      const before = Object.keys(await read(base)).filter((path) => !path.startsWith("store"));
      const result = await downloadFolder(lying, copy, options);
      expect(result.failed.map(({ code }) => code)).toEqual(["invalid_name", "invalid_name"]);
      expect(await read(copy)).toEqual({});
      const after = Object.keys(await read(base)).filter((path) => !path.startsWith("store"));
      expect(after.filter((path) => path !== "copy/")).toEqual(before);
    },
  );

  it("cannot write through links of the destination, nor over what is there", async () => {
    const { base, client, copy, options, root } = await openTree();
    await uploadFolder(client, root, options);
    await mkdir(join(base, "outside"));
    await mkdir(copy);
    await symlink(join(base, "outside"), join(copy, "deep"));
    await symlink(join(base, "outside", "new"), join(copy, "a.txt"));
    const result = await downloadFolder(client, copy, { ...options, overwrite: true });
    expect(codes(result)).toMatchObject({ "a.txt": "destination_exists", deep: "destination_exists" });
    expect(result.files).toEqual([]);
    expect(await readdir(join(base, "outside"))).toEqual([]);
  });

  it("writes nothing where a directory becomes a link meanwhile", async () => {
    const { base, client, connect, copy, options, root } = await openTree();
    await uploadFolder(client, root, options);
    await mkdir(join(base, "outside"));
    const swap: Middleware = async (request, next) => {
      if (request.url.endsWith("/content")) {
        await rename(join(copy, "deep"), join(base, "aside")).catch(() => undefined);
        await symlink(join(base, "outside"), join(copy, "deep")).catch(() => undefined);
      }
      return next(request);
    };
    const result = await downloadFolder(connect({ middleware: [swap] }), copy, options);
    expect(Object.keys(codes(result)).sort()).toEqual(["deep/b.txt", "deep/er/c.bin"]);
    expect(await readdir(join(base, "outside"))).toEqual([]);
  });

  it("two items of one name are both refused here, and what stays the same comes", async () => {
    const { client, connect, copy, options, root } = await openTree();
    await uploadFolder(client, root, options);
    const result = await downloadFolder(connect({ middleware: [renamed({ deep: "a.txt" })] }), copy, options);
    expect(codes(result)).toMatchObject({ "a.txt": "name_collision" });
    expect(await read(copy)).toEqual({});
  });
});

describe("a call that ends early", () => {
  it("goes on with the rest after an abort, and two at once exclude each other [D5-folder-resumed]", async () => {
    const { client, lines, options, root } = await openTree();
    // Too large for a batch: one file after the other.
    await fill(root, { "a.txt": "a".repeat(MIB), "deep/b.txt": "b".repeat(MIB), "deep/er/c.bin": "c".repeat(MIB) });
    const controller = new AbortController();
    const onProgress = ({ files }: { files: number }): void => {
      if (files === 1) controller.abort();
    };
    const first = { ...options, lanes: 1, signal: controller.signal, onProgress };
    await expect(uploadFolder(client, root, first)).rejects.toMatchObject({ code: "aborted" });
    lines();
    const [one, two] = await Promise.allSettled([
      uploadFolder(client, root, options),
      uploadFolder(client, root, options),
    ]);
    const reasons = [one, two].flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
    expect(reasons).toMatchObject([{ code: "locked", retryable: true }]);
    expect(writes(lines())).toEqual(["POST /api/files", "POST /api/files"]);
  });

  it("goes on from a state that is cut off as far as it goes, and refuses one that is damaged", async () => {
    const { client, lines, options, root, storeDirectory } = await openTree();
    await uploadFolder(client, root, options);
    const [name = ""] = (await readdir(storeDirectory)).filter((file) => file.startsWith("folder-"));
    const path = join(storeDirectory, name);
    const whole = await readFile(path);
    for (const size of [whole.length - 7, whole.length - 300]) {
      await writeFile(path, whole.subarray(0, size));
      lines();
      expect((await uploadFolder(client, root, options)).plan).toMatchObject({ create: 0, unchanged: 3 });
      expect(writes(lines())).toEqual([]);
    }
    await writeFile(path, "{}\n");
    await expect(uploadFolder(client, root, options)).rejects.toMatchObject({
      code: "configuration",
      message: expect.stringContaining("delete it"),
    });
    await rm(path);
    expect((await uploadFolder(client, root, options)).plan).toMatchObject({ create: 0, unchanged: 3 });
  });

  it("refuses options that nothing reads, and places that are undefined", async () => {
    const { client, options, root } = await openTree();
    const calls: [object, string][] = [
      [{ ...options, folderId: undefined }, "folderId"],
      [{ ...options, vaultId: undefined }, "vaultId"],
      [{ ...options, delete: true }, "delete"],
      [{ ...options, lanes: 0 }, "lanes"],
    ];
    for (const [given, field] of calls)
      await expect(uploadFolder(client, root, given as typeof options)).rejects.toMatchObject({
        code: "invalid_request",
        message: expect.stringContaining(field),
      });
    await expect(uploadFolder(client, join(root, "absent"), options)).rejects.toMatchObject({ code: "ENOENT" });
  });
});

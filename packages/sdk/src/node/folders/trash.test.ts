/** The service's word alone never destroys the last copy here. */
import { execFileSync } from "node:child_process";
import {
  appendFile,
  chmod,
  chown,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { downloadFolder, restoreRemoved, syncFolder, uploadFolder } from "./index.ts";
import {
  acts,
  came,
  codes,
  FALSE_DEEP,
  fill,
  hiding,
  MANY,
  mirrored,
  read,
  robbed,
  WITHOUT_DEEP,
} from "./tree.test-kit.ts";
import { clearTrash } from "./trash.ts";
import { isLocalTrash } from "./trash-name.ts";

/** Contents of all files below, wherever they lie. */
const contents = async (base: string): Promise<string[]> => Object.values(await read(base)).sort();

describe("a service that lies to a sync downwards with delete [D5-folder-sync]", () => {
  it("removes nothing by a false answer about one folder: an empty list of it, and that it is missing [S35]", async () => {
    const { connect, copy, down, idOf } = await mirrored();
    const all = FALSE_DEEP.map(idOf);
    const lied = await syncFolder(connect({ middleware: [hiding(all, [idOf("deep")])] }), copy, down);
    expect(await read(copy)).toEqual(MANY);
    expect(lied.plan.remove).toBe(0);
  });

  it("destroys nothing by false answers about every single file [S35]", async () => {
    const { base, connect, copy, down, idOf, root } = await mirrored();
    const all = FALSE_DEEP.map(idOf);
    await rm(root, { recursive: true });
    const lied = await syncFolder(connect({ middleware: [hiding(all, all)] }), copy, down);
    expect(acts(lied)).toMatchObject({ "deep/e.txt": "removed", "deep/er/f.txt": "removed" });
    expect(await contents(base)).toEqual(expect.arrayContaining(["five", "six"]));
  });

  it("destroys nothing by another content for a file that nobody changed here [S35]", async () => {
    const { base, client, copy, down, idOf, root } = await mirrored();
    await rm(root, { recursive: true });
    await client.files.replace(idOf("a.txt"), { body: "worthless" });
    expect(acts(await syncFolder(client, copy, down))).toMatchObject({ "a.txt": "replaced" });
    expect(await contents(base)).toEqual(expect.arrayContaining(["one", "worthless"]));
  });

  it("stops before it removes more than half, and before everything of an empty source", async () => {
    const { connect, copy, down, idOf } = await mirrored();
    const most = Object.keys(MANY).slice(0, 4).map(idOf);
    const lying = connect({ middleware: [hiding(most, most)] });
    await expect(syncFolder(lying, copy, down)).rejects.toMatchObject({
      code: "too_many_deletions",
      nextStep: expect.stringContaining("maxDelete"),
    });
    expect(await read(copy)).toEqual(MANY);
    const all = [...Object.keys(MANY), "deep", "deep/er"].map(idOf);
    await fill(copy, Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`mine-${String(at)}`, "mine"])));
    const empty = connect({ middleware: [hiding(all, all)] });
    await expect(syncFolder(empty, copy, down)).rejects.toMatchObject({ code: "too_many_deletions" });
    expect(await read(copy)).toMatchObject(MANY);
  });
});

describe("a sync upwards with delete [D5-folder-sync]", () => {
  it("stops before it removes more than half, and before everything of an empty source", async () => {
    const { client, options, root, vaultId } = await mirrored();
    const up = { ...options, direction: "up", delete: true } as const;
    for (const name of ["a.txt", "b.txt", "c.txt", "d.txt"]) await rm(join(root, name));
    await expect(syncFolder(client, root, up)).rejects.toMatchObject({ code: "too_many_deletions" });
    expect((await client.files.list({ vaultId })).files).toHaveLength(6);
    await rm(root, { recursive: true });
    await mkdir(root);
    for (let at = 0; at < 20; at += 1) await client.files.upload({ vaultId, name: `theirs-${String(at)}`, body: "t" });
    await expect(syncFolder(client, root, up)).rejects.toMatchObject({ code: "too_many_deletions" });
    expect((await client.files.list({ vaultId })).files).toHaveLength(26);
  });
});

describe("the local trash [S35]", () => {
  it("lies beside the directory, for its user alone, and gives back what a sync took, folders too [S35]", async () => {
    const { copy, run, trash } = await robbed();
    expect((await stat(trash)).mode & 0o777).toBe(0o700);
    expect((await stat(run)).mode & 0o777).toBe(0o700);
    const planned = await restoreRemoved(copy, { dryRun: true });
    expect(await read(copy)).toEqual(WITHOUT_DEEP);
    const restored = await restoreRemoved(copy);
    expect(restored).toEqual({ ...planned, dryRun: false });
    expect([came(restored), restored.folders]).toEqual([
      { "deep/e.txt": "restored", "deep/er/f.txt": "restored" },
      ["deep", "deep/er"],
    ]);
    expect(await read(copy)).toEqual(MANY);
    expect(await readdir(trash)).toEqual([]);
    expect((await restoreRemoved(copy)).files).toEqual([]);
  });

  it("gives nothing back over what is here now, unless told, and then that goes to the trash", async () => {
    const { copy } = await robbed();
    await fill(copy, { "deep/e.txt": "newer" });
    expect(came(await restoreRemoved(copy))).toEqual({ "deep/e.txt": "exists", "deep/er/f.txt": "restored" });
    expect(await read(copy)).toEqual({ ...MANY, "deep/e.txt": "newer" });
    expect(came(await restoreRemoved(copy, { overwrite: true }))).toEqual({ "deep/e.txt": "restored" });
    expect(await read(copy)).toEqual(MANY);
    expect(came(await restoreRemoved(copy, { overwrite: true }))).toEqual({ "deep/e.txt": "restored" });
    expect(await read(copy)).toEqual({ ...MANY, "deep/e.txt": "newer" });
  });

  it("gives back what several calls took, of each path the newest", async () => {
    const { base, client, copy, down, idOf } = await mirrored();
    const start = new Date();
    for (const body of ["second", "third"]) {
      await client.files.replace(idOf("a.txt"), { body });
      await syncFolder(client, copy, down);
    }
    await client.files.trashMany([idOf("b.txt")]);
    await syncFolder(client, copy, down);
    await rm(join(copy, "a.txt"));
    expect(await readdir(join(base, ".coffer-trash"))).toHaveLength(3);
    expect(came(await restoreRemoved(copy, { dryRun: true }))).toEqual({ "b.txt": "restored" });
    const restored = await restoreRemoved(copy, { since: start });
    expect(restored.files.map(({ act, path }) => `${act} ${path}`)).toEqual([
      ...["restored b.txt", "restored a.txt", "exists a.txt"],
    ]);
    expect(await read(copy)).toEqual({ ...MANY, "a.txt": "second" });
    await expect(restoreRemoved(copy, { since: new Date(Number.NaN) })).rejects.toMatchObject({
      code: "invalid_request",
    });
  });

  it("is another tree's as well, and each gets its own back", async () => {
    const { base, copy } = await robbed();
    await mkdir(join(base, "other"));
    expect((await restoreRemoved(join(base, "other"))).files).toEqual([]);
    expect((await restoreRemoved(copy)).files).toHaveLength(2);
  });

  it("is never sent, and nothing of a vault comes by its name", async () => {
    const { base, client, copy, down, options, root, vaultId } = await mirrored();
    await fill(root, { ".coffer-trash/x": "x", "deep/.Coffer-Trash/y": "y" });
    const sent = await uploadFolder(client, root, options);
    expect(sent.skipped).toEqual([
      { path: ".coffer-trash", reason: "trash" },
      { path: "deep/.Coffer-Trash", reason: "trash" },
    ]);
    expect((await client.files.list({ vaultId })).files).toHaveLength(6);
    const { id: folderId } = await client.folders.create({ vaultId, name: ".COFFER-trash" });
    await client.files.upload({ vaultId, folderId, name: "contents.json", body: "{}" });
    for (const result of [
      await syncFolder(client, copy, down),
      await downloadFolder(client, join(base, "new"), options),
    ])
      expect(Object.values(codes(result))).toEqual(["invalid_name"]);
    expect(await readdir(join(base, "new"))).not.toContain(".COFFER-trash");
    expect([".coffer-tra\u200csh", "\uff0ecoffer-trash", ".coffer-trash2"].map(isLocalTrash)).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe("where the trash lies [S35]", () => {
  const WAYS = [
    ["is a link", async (trash: string) => symlink(join(trash, ".."), trash)],
    ["is a file", async (trash: string) => writeFile(trash, "")],
    ...(process.getuid?.() === 0
      ? [
          [
            "is another user's",
            async (trash: string) => (await mkdir(trash), await chown(trash, 12_345, 12_345)),
          ] as const,
        ]
      : []),
  ] as const;

  it.each(WAYS)("is the tree itself where what is beside it %s", async (_, spoil) => {
    const { base, client, copy, down, idOf } = await mirrored();
    await spoil(join(base, ".coffer-trash"));
    await client.files.trashMany([idOf("a.txt")]);
    const removed = await syncFolder(client, copy, down);
    expect(acts(removed)["a.txt"]).toBe("removed");
    expect((await stat(join(copy, ".coffer-trash"))).mode & 0o777).toBe(0o700);
    expect((await syncFolder(client, copy, down)).skipped).toEqual([{ path: ".coffer-trash", reason: "trash" }]);
    expect(came(await restoreRemoved(copy))).toEqual({ "a.txt": "restored" });
    expect(await readFile(join(copy, "a.txt"), "utf8")).toBe("one");
  });

  it("is made private again, and without any place for it nothing is removed", async () => {
    const { base, client, copy, down, idOf } = await mirrored();
    await mkdir(join(base, ".coffer-trash"));
    await chmod(join(base, ".coffer-trash"), 0o777);
    await client.files.trashMany([idOf("a.txt")]);
    await syncFolder(client, copy, down);
    expect((await stat(join(base, ".coffer-trash"))).mode & 0o777).toBe(0o700);
    await rm(join(base, ".coffer-trash"), { recursive: true });
    for (const place of [base, copy]) await writeFile(join(place, ".coffer-trash"), "");
    await client.files.trashMany([idOf("b.txt")]);
    await expect(syncFolder(client, copy, down)).rejects.toMatchObject({ code: "configuration" });
    expect(await readFile(join(copy, "b.txt"), "utf8")).toBe("two");
  });

  it("is the tree itself where that is a mount point", async (context) => {
    if (!canMount()) context.skip("this system lets nobody mount anything");
    const { base, copy } = await mirrored();
    await mkdir(join(base, "mounted"));
    const program = `
      const { TrashRun } = await import(${JSON.stringify(fileURLToPath(new URL("trash.ts", import.meta.url)))});
      await using run = await TrashRun.open(process.argv[1], { files: [], folders: [process.argv[1] + "/deep"] }, 0);`;
    const [mounted, trash] = [join(base, "mounted"), ".coffer-trash"];
    const node = [process.execPath, "--conditions=coffer-source", "--input-type=module", "-e", program, mounted];
    // A bind mount has the same device number as what is beside it.
    const shell = 'mount --bind "$1" "$2" && shift 2 && exec "$@"';
    execFileSync("unshare", ["-rm", "sh", "-c", shell, "sh", copy, mounted, ...node]);
    expect([(await readdir(base)).includes(trash), (await readdir(copy)).includes(trash)]).toEqual([false, true]);
  });
});

function canMount(): boolean {
  try {
    execFileSync("unshare", ["-rm", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const DAY_MS = 24 * 60 * 60_000;

describe("clearing the trash [S35]", () => {
  it("removes what came 30 days ago, by the next sync, and nothing sooner [S35]", async () => {
    const { client, copy, down, run, trash } = await robbed();
    await clearTrash(copy, Date.now() + 29 * DAY_MS);
    expect(await readdir(run)).toHaveLength(3);
    await rename(run, join(trash, basename(run).replace(/^\d{4}/, "2020")));
    await syncFolder(client, copy, down);
    expect(await readdir(trash)).toEqual([]);
    expect((await restoreRemoved(copy)).files).toEqual([]);
  });

  it("follows no link, and removes only what a sync put there", async () => {
    const { base, copy, run, trash } = await robbed();
    const later = Date.now() + 31 * DAY_MS;
    const outside = join(base, "outside");
    await rename(run, outside);
    await symlink(outside, run);
    await clearTrash(copy, later);
    expect(await readdir(outside)).toHaveLength(3);
    await rm(run);
    await rename(outside, run);
    const [one = "", two = ""] = (await readdir(run)).filter((name) => name !== "contents.json");
    // One is a link now, and the other was changed in place. A stranger's file is there, too.
    await rename(join(run, one), join(base, "kept"));
    await symlink(join(base, "kept"), join(run, one));
    await appendFile(join(run, two), "more");
    await writeFile(join(run, "stranger"), "");
    await writeFile(join(trash, "stranger"), "");
    await clearTrash(copy, later);
    expect((await readdir(run)).sort()).toEqual([one, two, "contents.json", "stranger"].sort());
    for (const name of [one, two]) await rm(join(run, name));
    await rename(join(base, "kept"), join(run, one));
    await clearTrash(copy, later);
    expect([await readdir(run), await readdir(trash)]).toEqual([["stranger"], [basename(run), "stranger"]]);
  });
});

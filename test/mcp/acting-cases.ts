/** What the tools that act do alike in a public vault and in a shared one. */
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openToolClient, launcherCommand, startStack, type Stack, type ToolClient } from "@coffer/devstack";
import { createClient, type Client } from "@coffer/sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";

export interface ActScene {
  readonly owner: Client;
  readonly tools: ToolClient;
  readonly folder: string;
  readonly vaultId: string;
}

/** A stack of its own, in the test file that calls this. */
function openScene(kind: "public" | "shared"): () => ActScene {
  const folder = makeDirectory();
  let opened: { scene: ActScene; stack: Stack } | undefined;
  beforeAll(async () => {
    const stack = await startStack();
    const { baseUrl, sharedVaults } = stack;
    const owner = createClient({ baseUrl, credentials: { apiKey: stack.apiKey }, sharedVaults });
    const { id: vaultId } = await owner.vaults.create({ name: `Acts ${kind}`, type: kind });
    const tools = await openToolClient({
      credentialsFile: stack.credentialsFile,
      folders: [folder],
      launcher: launcherCommand(),
      flags: ["--downloads", folder],
      environment: { SERVICE_CONFIG_DIR: join(stack.dataDirectory, "client") },
    });
    opened = { stack, scene: { owner, tools, folder, vaultId } };
  });
  afterAll(async () => {
    await opened?.scene.tools.close();
    await opened?.stack.close();
  });
  return () => {
    if (opened === undefined) throw new Error("the scene is opened before the first test");
    return opened.scene;
  };
}

export async function tree(
  { folder }: ActScene,
  name: string,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, name, path, ".."), { recursive: true });
    await writeFile(join(folder, name, path), text);
  }
  return join(folder, name);
}

const rowsOf = (facts: Readonly<Record<string, unknown>>): unknown[][] => (facts["rows"] ?? []) as unknown[][];
const bare = (cell: unknown): string => String(cell).replaceAll(/<\/?[\w-]{8}>/g, "");

export function describeActs(kind: "public" | "shared"): () => ActScene {
  const scene = openScene(kind);

  describe(`a ${kind} vault`, () => {
    const vaultId = (): string => scene().vaultId;
    const call: ToolClient["call"] = (...given) => scene().tools.call(...given);
    const at = (...parts: string[]): string => join(scene().folder, ...parts);

    it("takes a folder by one call, and a repeat sends the rest only", async () => {
      const name = `project-${kind}`;
      await tree(scene(), name, { "a.txt": "a", "deep/b.txt": "b", ".env": "SECRET=1", id_rsa: "key" });
      await symlink("/etc/hostname", at(name, "link.txt"));
      const planned = await call("file_upload", {
        paths: [name],
        vaultId: vaultId(),
        folder: "Work",
        dryRun: "true",
      });
      expect(planned.facts).toMatchObject({ planned: 2 });
      expect((await scene().owner.files.list({ vaultId: vaultId() })).files).toEqual([]);
      const first = await call("file_upload", { paths: [name], vaultId: vaultId(), folder: "Work" });
      expect(first.facts).toMatchObject({ created: 2, bytes: 2, skipped: 3 });
      expect(
        rowsOf(first.facts)
          .map((row) => [bare(row[3]), bare(row[4])])
          .toSorted(),
      ).toEqual([
        [`${name}/.env`, "filter"],
        [`${name}/id_rsa`, "filter"],
        [`${name}/link.txt`, "link"],
      ]);
      await tree(scene(), name, { "c.txt": "c", "a.txt": "changed" });
      const second = await call("file_upload", { paths: [name], vaultId: vaultId(), folder: "Work" });
      expect(second.facts).toMatchObject({ created: 1, unchanged: 1, failed: 1 });
      const third = await call("file_upload", {
        paths: [name],
        vaultId: vaultId(),
        folder: "Work",
        ifExists: "version",
      });
      expect(third.facts).toMatchObject({ replaced: 1, unchanged: 2 });

      const back = await call("file_download", { folder: "Work", vaultId: vaultId(), dest: `back-${kind}` });
      expect(back.facts).toMatchObject({ created: 3 });
      expect(await readFile(at(`back-${kind}`, name, "a.txt"), "utf8")).toBe("changed");
    });

    it("single files by one call: receipts, what is there unchanged, failures named", async () => {
      const one = await tree(scene(), `many-${kind}`, { "x.txt": "x", "y.txt": "y" });
      const paths = [join(one, "x.txt"), join(one, "y.txt"), join(one, "none.txt")];
      const first = await call("file_upload", { paths, vaultId: vaultId(), folder: "Singles" });
      expect(first.facts).toMatchObject({ created: 2, failed: 1 });
      expect(bare(rowsOf(first.facts)[0]?.[4])).toContain("no such local file");
      expect((await call("file_upload", { paths, vaultId: vaultId(), folder: "Singles" })).facts).toMatchObject({
        unchanged: 2,
        failed: 1,
      });
      const both = ["Singles/x.txt", "Singles/y.txt"];
      const fetched = await call("file_download", { files: both, vaultId: vaultId(), dest: `got-${kind}` });
      expect(fetched.facts).toMatchObject({ created: 2, bytes: 2 });
      expect((await readdir(at(`got-${kind}`))).toSorted()).toEqual(["x.txt", "y.txt"]);
      const skipped = await call("file_download", {
        files: both,
        vaultId: vaultId(),
        dest: `got-${kind}`,
        ifExists: "skip",
      });
      expect(skipped.facts).toMatchObject({ skipped: 2 });
    });

    it("texts from the conversation: versions, what was expected, and yesterday's brought back", async () => {
      const given = { name: "plan.md", vaultId: vaultId(), folder: "Notes" };
      const first = await call("file_write", { ...given, text: "one" });
      expect(first.facts).toMatchObject({ bytes: 3 });
      const { versionId } = first.facts;
      expect((await call("file_write", { ...given, text: "two!" })).code).toBe("name_exists");
      const second = await call("file_write", {
        ...given,
        text: "two!",
        ifExists: "version",
        expectedVersion: versionId,
      });
      expect(second.facts).toMatchObject({ fileId: first.facts["fileId"], bytes: 4 });
      const late = await call("file_write", {
        ...given,
        text: "three",
        ifExists: "version",
        expectedVersion: versionId,
      });
      expect(late.code).toBe("precondition_failed");
      const old = await call("file_download", {
        files: ["Notes/plan.md"],
        vaultId: vaultId(),
        dest: `old-${kind}`,
        version: "1",
      });
      expect(await readFile(at(`old-${kind}`), "utf8")).toBe("one");
      expect(old.facts).toMatchObject({ versionId });
      await call("file_restore", { files: ["Notes/plan.md"], vaultId: vaultId(), version: "1" });
      const shown = await call("file_get", { files: ["Notes/plan.md"], vaultId: vaultId() });
      expect(shown.facts).toMatchObject({ bytes: 3 });
      expect(rowsOf(shown.facts)).toHaveLength(3);
    });

    it("edits a text without its rest: appends, also eight at once, and replaces what it may read [issue 54]", async () => {
      const place = { name: "Log/today.md", vaultId: vaultId() };
      const textNow = async (): Promise<string> => {
        const { files } = await scene().owner.files.list({ vaultId: vaultId(), limit: 100 });
        const id = files.find(({ name }) => name === "today.md")?.id ?? "";
        return await (await scene().owner.files.download(id, { vaultId: vaultId() })).text();
      };
      const made = await call("file_write", { ...place, text: "one\n", append: true });
      expect(made.facts).toMatchObject({ bytes: 4, sha256: expect.any(String) as string });
      await Promise.all(
        Array.from({ length: 8 }, (_, at) => call("file_write", { ...place, text: `${String(at)}\n`, append: "true" })),
      );
      const lines = (await textNow()).split("\n");
      expect([lines[0], lines.slice(1, -1).toSorted().join("")]).toEqual(["one", "01234567"]);
      const more = await call("file_write", { ...place, text: "end\n", append: true });
      // The digest of a content that this conversation did not give tells what the file holds.
      expect("sha256" in more.facts).toBe(kind === "public");
      const change = { ...place, replace: { find: "one", replacement: "first" } };
      const changed = await call("file_write", change);
      expect(changed.code).toBe(kind === "public" ? null : "reveal_refused");
      if (kind === "public") {
        expect(await textNow()).toMatch(/^first\n/);
        expect((await call("file_write", change)).code).toBe("edit_refused");
        const counted = { ...place, replace: { find: "\n", replacement: "; ", count: 10 } };
        expect((await call("file_write", counted)).code).toBeNull();
      }
      const before = await textNow();
      for (const [wrong, code] of [
        [{ ...place }, "invalid_arguments"],
        [{ ...place, text: "x", replace: change.replace }, "invalid_arguments"],
        [{ ...place, text: "x", append: true, ifExists: "version" }, "invalid_arguments"],
        [{ ...place, text: "x", append: true, expectedVersion: made.facts["versionId"] }, "precondition_failed"],
        [{ ...place, name: "Log/none.md", replace: change.replace }, "not_found"],
      ] as const)
        expect([wrong, (await call("file_write", wrong)).code]).toEqual([wrong, code]);
      expect(await textNow()).toBe(before);
    });

    it("moves, renames, and brings back from the trash", async () => {
      await call("file_write", { name: "m.txt", text: "m", vaultId: vaultId() });
      const moved = await call("file_move", { files: ["m.txt"], vaultId: vaultId(), to: "Archive/2026" });
      expect(moved.facts).toMatchObject({ done: 1 });
      const renamed = await call("file_move", { files: "Archive/2026/m.txt", vaultId: vaultId(), name: "n.txt" });
      expect(renamed.isError).toBe(false);
      const gone = await call("file_delete", {
        files: ["Archive/2026/n.txt", "Archive/none.txt"],
        vaultId: vaultId(),
      });
      expect(gone.facts).toMatchObject({ done: 1, failed: 1 });
      const trash = await call("file_list", { vaultId: vaultId(), trashed: true });
      const [row] = trash.facts["files"] as unknown[][];
      expect((await call("file_restore", { files: [row?.[0]], vaultId: vaultId() })).facts).toMatchObject({
        done: 1,
      });
      const listed = await call("file_list", { vaultId: vaultId(), folder: "Archive/2026" });
      expect(listed.text).toContain("n.txt");
    });

    it("a folder goes to the trash only with the token of its preview, once, for the same call and state", async () => {
      for (const name of ["p.txt", "q.txt"])
        await call("file_write", { name, text: name, vaultId: vaultId(), folder: "Old drafts" });
      const given = { files: ["Old drafts"], vaultId: vaultId() };
      const asked = await call("file_delete", given);
      expect(asked.code).toBe("confirmation_required");
      const { preview, confirm } = asked.facts["error"] as { preview: string; confirm: string };
      expect(preview).toContain("2 files");
      expect(asked.text).toContain(confirm);
      for (const other of [
        { ...given, confirm: `${confirm.slice(0, -1)}${confirm.endsWith("A") ? "B" : "A"}` },
        { ...given, files: ["Notes"], confirm },
      ])
        expect((await call("file_delete", other)).code).toBe("confirmation_required");
      await call("file_write", { name: "r.txt", text: "r", vaultId: vaultId(), folder: "Old drafts" });
      expect((await call("file_delete", { ...given, confirm })).code).toBe("confirmation_required");
      const again = (await call("file_delete", given)).facts["error"] as { confirm: string };
      expect((await call("file_delete", { ...given, confirm: again.confirm })).facts).toMatchObject({ done: 1 });
      const { folders } = await scene().owner.folders.list({ vaultId: vaultId(), trashed: true });
      await scene().owner.files.restoreMany(folders.map(({ id }) => id));
      expect((await call("file_delete", { ...given, confirm: again.confirm })).code).toBe("confirmation_required");
    });

    it("shows what changed, and waits for the next change", async () => {
      const before = await call("change_list", { vaultId: vaultId(), since: "1h", limit: 100, wait: 1 });
      expect(before.text).toContain("file.uploaded");
      const cursor = before.facts["nextCursor"];
      const waiting = call("change_list", { vaultId: vaultId(), cursor, wait: "20" });
      await call("file_write", { name: "news.txt", text: "n", vaultId: vaultId() });
      const rows = (await waiting).facts["changes"] as unknown[][];
      expect(rows.map((row) => [row[1], bare(row[5])])).toContainEqual(["file.uploaded", "news.txt"]);
    });
  });
  return scene;
}

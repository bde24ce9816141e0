/** What a sync must not take for deleted, and a name that was a file and is now a folder. */
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { syncFolder, uploadFolder } from "./index.ts";
import { acts, codes, fill, openTree, read } from "./tree.test-kit.ts";

/** `caf?.txt` in Latin-1: no text of JavaScript names it. */
const latin1 = (directory: string, name: string): Buffer =>
  Buffer.concat([Buffer.from(`${directory}/`), Buffer.from(name, "latin1")]);

describe("names that are not UTF-8", () => {
  it("fail by their escaped names, and the others are sent", async () => {
    const { client, options, root } = await openTree();
    await writeFile(latin1(root, "caf\xe9.txt"), "coffee");
    await mkdir(latin1(root, "d\xe9r"));
    const sent = await uploadFolder(client, root, options);
    expect(codes(sent)).toEqual({ "caf\\xe9.txt": "invalid_name", "d\\xe9r": "invalid_name" });
    expect(sent.failed[0]).toMatchObject({
      message: expect.stringContaining("not UTF-8"),
      nextStep: expect.stringContaining("Rename"),
    });
    expect(acts(sent)).toMatchObject({ "a.txt": "created", "deep/b.txt": "created" });
  });

  it("keep the vault's copy of what was renamed to one", async () => {
    const { client, options, root } = await openTree();
    const up = { ...options, direction: "up", delete: true, maxDelete: 100 } as const;
    await fill(root, { "menus/café.txt": "coffee", "menus/tea.txt": "tea", "menus/old/x": "x" });
    await syncFolder(client, root, up);
    await rename(join(root, "menus/café.txt"), latin1(join(root, "menus"), "caf\xe9.txt"));
    const synced = await syncFolder(client, root, up);
    expect(codes(synced)).toEqual({ "menus/caf\\xe9.txt": "invalid_name" });
    expect(Object.values(acts(synced))).not.toContain("removed");
    // Once it has a name again, what is missing counts as deleted.
    await rm(latin1(join(root, "menus"), "caf\xe9.txt"));
    expect(acts(await syncFolder(client, root, up))["menus/café.txt"]).toBe("removed");
  });
});

describe("a file that became a folder of the same name, and a folder that became a file", () => {
  const before = { one: "file", "two/in": "inside", "two/deeper/in": "inside" };
  const after = { "one/in": "inside", two: "file" };

  it("go up with --delete, and a second sync has nothing to do", async () => {
    const { client, options, root } = await openTree();
    const up = { ...options, direction: "up", delete: true, maxDelete: 100 } as const;
    await fill(root, before);
    await syncFolder(client, root, up);
    for (const name of Object.keys(before))
      await rm(join(root, name.split("/")[0] ?? ""), { recursive: true, force: true });
    await fill(root, after);
    expect(codes(await syncFolder(client, root, { ...up, delete: false }))).toEqual({
      one: "name_collision",
      two: "name_collision",
    });
    const synced = await syncFolder(client, root, up);
    expect([synced.failed, acts(synced)]).toMatchObject([[], { "one/in": "created" }]);
    const again = await syncFolder(client, root, up);
    expect([again.failed, new Set(Object.values(acts(again)))]).toEqual([[], new Set(["unchanged"])]);
  });

  it("fail where the journal does not know what is in the way, which stays", async () => {
    const { client, copy, options, root, vaultId } = await openTree();
    await client.files.upload({ vaultId, name: "one", body: "theirs" });
    await fill(root, { "one/in": "mine" });
    const up = await syncFolder(client, root, { ...options, direction: "up", delete: true });
    expect(codes(up)).toEqual({ one: "name_collision" });
    await fill(copy, { "one/in": "mine" });
    const down = await syncFolder(client, copy, { ...options, direction: "down", delete: true, maxDelete: 100 });
    expect(codes(down)).toEqual({ one: "name_collision" });
    expect(await read(copy)).toMatchObject({ "one/in": "mine" });
  });

  it("come down with --delete, and a second sync has nothing to do", async () => {
    const { client, copy, options, root } = await openTree();
    const up = { ...options, direction: "up", delete: true, maxDelete: 100 } as const;
    const down = { ...options, direction: "down", delete: true, maxDelete: 100 } as const;
    await fill(root, before);
    await syncFolder(client, root, up);
    await syncFolder(client, copy, down);
    for (const name of Object.keys(before))
      await rm(join(root, name.split("/")[0] ?? ""), { recursive: true, force: true });
    await fill(root, after);
    await syncFolder(client, root, up);
    const synced = await syncFolder(client, copy, down);
    expect(synced.failed).toEqual([]);
    expect(await read(copy)).toMatchObject(after);
    const again = await syncFolder(client, copy, down);
    expect([again.failed, new Set(Object.values(acts(again)))]).toEqual([[], new Set(["unchanged"])]);
  });
});

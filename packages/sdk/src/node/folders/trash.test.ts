/** The service's word alone never destroys the last copy here. */
import { randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Middleware } from "../../transports.ts";
import { syncFolder } from "../folders.ts";
import { acts, fill, openTree, read } from "./test-tree.ts";

const MANY = {
  ...{ "a.txt": "one", "b.txt": "two", "c.txt": "three", "d.txt": "four" },
  ...{ "deep/e.txt": "five", "deep/er/f.txt": "six" },
};

/** A tree that was sent, and a copy of it that came. */
async function mirrored(tree: Readonly<Record<string, string>> = MANY) {
  const opened = await openTree(tree);
  const { client, copy, options, root } = opened;
  const sent = await syncFolder(client, root, { ...options, direction: "up" });
  const down = { ...options, direction: "down", delete: true } as const;
  await syncFolder(client, copy, down);
  const idOf = (path: string): string =>
    sent.files.find((file) => file.path === path)?.fileId ??
    sent.folders.find((folder) => folder.path === path)?.folderId ??
    "";
  return { ...opened, down, idOf };
}

/** Lists leave these ids out, and so does the answer to each of `absent` by itself. */
function hiding(unlisted: readonly string[], absent: readonly string[]): Middleware {
  return async (request, next) => {
    const { pathname } = new URL(request.url);
    const id = absent.find((each) => pathname.endsWith(`/${each}`));
    if (id !== undefined) return next(new Request(request.url.replace(id, randomUUID()), request));
    const answer = await next(request);
    if (request.method !== "GET" || !/\/api\/(files|folders)$/.test(pathname)) return answer;
    const body = (await answer.json()) as Record<string, { id: string }[]>;
    for (const kind of ["files", "folders"])
      if (body[kind] !== undefined) body[kind] = body[kind].filter(({ id }) => !unlisted.includes(id));
    return Response.json(body);
  };
}

/** Contents of all files below, wherever they lie. */
const contents = async (base: string): Promise<string[]> => Object.values(await read(base)).sort();

describe("a service that lies to a sync downwards with delete [D5-folder-sync]", () => {
  it("removes nothing by a false answer about one folder: an empty list of it, and that it is missing", async () => {
    const { connect, copy, down, idOf } = await mirrored();
    const all = ["deep", "deep/e.txt", "deep/er", "deep/er/f.txt"].map(idOf);
    const lied = await syncFolder(connect({ middleware: [hiding(all, [idOf("deep")])] }), copy, down);
    expect(await read(copy)).toEqual(MANY);
    expect(lied.plan.remove).toBe(0);
  });

  it("destroys nothing by false answers about every single file", async () => {
    const { base, connect, copy, down, idOf, root } = await mirrored();
    const all = ["deep", "deep/e.txt", "deep/er", "deep/er/f.txt"].map(idOf);
    await rm(root, { recursive: true });
    const lied = await syncFolder(connect({ middleware: [hiding(all, all)] }), copy, down);
    expect(acts(lied)).toMatchObject({ "deep/e.txt": "removed", "deep/er/f.txt": "removed" });
    expect(await contents(base)).toEqual(expect.arrayContaining(["five", "six"]));
  });

  it("destroys nothing by another content for a file that nobody changed here", async () => {
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

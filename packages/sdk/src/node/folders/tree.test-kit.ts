/** Directories with files, and a fake service that they go to and come from. For tests. */
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { openService } from "../../connection/service.test-kit.ts";
import type { Middleware } from "../../http/transports.ts";
import { fileStore } from "../store/file-store.ts";
import { syncFolder } from "./index.ts";
import type { FolderResult, RestoreRemovedResult } from "./options.ts";

export const TREE = { "a.txt": "one", "deep/b.txt": "two", "deep/er/c.bin": "three", "deep/er/empty/": "" };
export const OLD = new Date("2026-01-01T00:00:00.123Z");

/** A directory with these files, whose times are past, and folders where a path ends in `/`. */
export async function fill(root: string, tree: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(tree)) {
    const place = join(root, path);
    if (path.endsWith("/")) await mkdir(place, { recursive: true });
    else {
      await mkdir(join(place, ".."), { recursive: true });
      await writeFile(place, content);
      await utimes(place, OLD, OLD);
    }
  }
}

export async function read(root: string): Promise<Record<string, string>> {
  const tree: Record<string, string> = {};
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const place = join(entry.parentPath, entry.name);
    const path = place.slice(root.length + 1);
    if (entry.isFile()) tree[path] = await readFile(place, "utf8");
    else if (entry.isDirectory() && (await readdir(place)).length === 0) tree[`${path}/`] = "";
  }
  return tree;
}

/** The service has an empty vault, and `root` the given tree. */
export async function openTree(tree: Readonly<Record<string, string>> = TREE) {
  const service = await openService();
  const base = makeDirectory();
  const vaultId = (await service.client.vaults.create({ name: "tree", type: "public" })).id;
  const [root, copy, storeDirectory] = [join(base, "tree"), join(base, "copy"), join(base, "store")];
  await fill(root, tree);
  const options = { vaultId, store: fileStore(storeDirectory) };
  return {
    ...service,
    base,
    root,
    copy,
    vaultId,
    storeDirectory,
    options,
    /** Method and path of each request since the last call. */
    lines: () => service.sent.splice(0).map(({ method, url }) => `${method} ${new URL(url).pathname}`),
    client: service.connect({ retry: { baseDelayMs: 1, maxDelayMs: 2 } }),
  };
}

export const acts = ({ files }: FolderResult): Record<string, string> =>
  Object.fromEntries(files.map(({ path, act }): [string, string] => [path, act]).sort());
export const codes = ({ failed }: Pick<FolderResult, "failed">): Record<string, string> =>
  Object.fromEntries(failed.map(({ path, code }): [string, string] => [path, code]).sort());

export const MANY = {
  "a.txt": "one",
  "b.txt": "two",
  "c.txt": "three",
  "d.txt": "four",
  "deep/e.txt": "five",
  "deep/er/f.txt": "six",
};

/** A tree that was sent, and a copy of it that came. */
export async function mirrored(tree: Readonly<Record<string, string>> = MANY) {
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
export function hiding(unlisted: readonly string[], absent: readonly string[]): Middleware {
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

export const FALSE_DEEP = ["deep", "deep/e.txt", "deep/er", "deep/er/f.txt"];
export const WITHOUT_DEEP = Object.fromEntries(Object.entries(MANY).filter(([path]) => !path.startsWith("deep")));

/** A copy from which a lying service has removed the folder `deep`. */
export async function robbed() {
  const mirror = await mirrored();
  const all = FALSE_DEEP.map(mirror.idOf);
  await syncFolder(mirror.connect({ middleware: [hiding(all, all)] }), mirror.copy, mirror.down);
  const trash = join(mirror.base, ".coffer-trash");
  const [run = ""] = await readdir(trash);
  return { ...mirror, trash, run: join(trash, run) };
}

export const came = ({ files }: RestoreRemovedResult): Record<string, string> =>
  Object.fromEntries(files.map(({ path, act }): [string, string] => [path, act]).sort());

/** Directories with files, and a fake service that they go to and come from. For tests. */
import { mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { openService } from "../../test-service.ts";
import type { FolderResult } from "./options.ts";

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
  const [root, copy, journalDirectory] = [join(base, "tree"), join(base, "copy"), join(base, "journals")];
  await fill(root, tree);
  const options = { vaultId, journalDirectory };
  return {
    ...service,
    ...{ base, root, copy, vaultId, options },
    /** Method and path of each request since the last call. */
    lines: () => service.sent.splice(0).map(({ method, url }) => `${method} ${new URL(url).pathname}`),
    client: service.connect({ retry: { baseDelayMs: 1, maxDelayMs: 2 } }),
  };
}

export const acts = ({ files }: FolderResult): Record<string, string> =>
  Object.fromEntries(files.map(({ path, act }) => [path, act]).sort());
export const codes = ({ failed }: FolderResult): Record<string, string> =>
  Object.fromEntries(failed.map(({ path, code }) => [path, code]).sort());

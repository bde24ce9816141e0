/** What is really there: read through the SDK, or from the disk. */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Client } from "@coffer/sdk";

export type Tree = Readonly<Record<string, string>>;

/** Every file of a vault that is not in the trash, by its path, with its text. */
export async function treeOf(client: Client, vaultId: string): Promise<Tree> {
  const tree: Record<string, string> = {};
  const walk = async (folderId: string, prefix: string): Promise<void> => {
    for await (const { id, name } of client.files.list({ vaultId, folderId }))
      tree[`${prefix}${name}`] = await contentOf(client, id);
    for await (const { id, name } of client.folders.list({ vaultId, parentId: folderId }))
      await walk(id, `${prefix}${name}/`);
  };
  await walk("root", "");
  return tree;
}

export async function contentOf(client: Client, fileId: string, versionId?: string): Promise<string> {
  const download = await client.files.download(fileId, versionId === undefined ? {} : { versionId });
  return new TextDecoder().decode(await download.bytes());
}

/** Stores files by their paths, and makes the folders. Resolves with the ids. */
export async function storeTree(client: Client, vaultId: string, tree: Tree): Promise<Record<string, string>> {
  const folders = new Map<string, string>();
  const folderOf = async (path: string): Promise<string | null> => {
    if (path === ".") return null;
    const known = folders.get(path);
    if (known !== undefined) return known;
    const parentId = await folderOf(dirname(path));
    const name = path.split("/").at(-1) ?? "";
    const { id } = await client.folders.create({ vaultId, name, ...(parentId === null ? {} : { parentId }) });
    folders.set(path, id);
    return id;
  };
  const ids: Record<string, string> = {};
  for (const [path, body] of Object.entries(tree)) {
    const folderId = await folderOf(dirname(path));
    const place = folderId === null ? {} : { folderId };
    ids[path] = (await client.files.upload({ vaultId, name: path.split("/").at(-1) ?? "", ...place, body })).file.id;
  }
  return { ...ids, ...Object.fromEntries(folders) };
}

export async function writeTree(directory: string, tree: Tree): Promise<void> {
  for (const [path, text] of Object.entries(tree)) {
    const file = join(directory, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

/** Every file below a local directory, by its path, with its text. */
export async function readTree(directory: string): Promise<Tree> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const pairs = files.sort().map(async (file) => [file.slice(directory.length + 1), await readFile(file, "utf8")]);
  return Object.fromEntries(await Promise.all(pairs)) as Tree;
}

export const numbered = (count: number, path: (at: number) => string): Tree =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [path(at), `content ${String(at)}\n`]));

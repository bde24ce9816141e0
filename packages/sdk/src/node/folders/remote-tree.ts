/** What is below a folder of a vault, by path. */
import { nameProblem } from "@coffer/contract";
import type { Client } from "../../client.ts";
import type { File, Folder } from "../../storage/item-types.ts";
import { ContractError } from "../../http/errors.ts";
import { isLeftover } from "../files/download-file.ts";
import { inLanes } from "../../http/concurrency.ts";
import { pathIn, throwIfAborted, type Outcome } from "./outcome.ts";
import { isLocalTrash } from "./trash-name.ts";

export interface RemotePlace {
  readonly vaultId: string;
  readonly folderId?: string;
}

export interface RemoteTree {
  readonly files: ReadonlyMap<string, File>;
  /** Folders before what is in them. */
  readonly folders: ReadonlyMap<string, Folder>;
}

export interface ListingOptions {
  readonly lanes: number;
  readonly signal: AbortSignal | undefined;
  /** Where names matter that have no place here. null: they are only there. */
  readonly refuse: Outcome | null;
}

const PAGE_LIMIT = 1000;
/** With more folders than this, a list of the whole vault takes fewer requests. */
const MAX_LISTS = 64;

/** The answers name each item's folder. What no path leads to from the named folder is not below it, whoever claims so. */
export async function listTree(client: Client, place: RemotePlace, listing: ListingOptions): Promise<RemoteTree> {
  const { vaultId, folderId } = place;
  const { signal } = listing;
  const folderCheck = folderId === undefined ? null : requireFolder(client, vaultId, folderId, signal);
  // It is waited for below, also when the list fails first.
  folderCheck?.catch(() => undefined);
  const children = new Map<string | null, Folder[]>();
  for await (const folder of client.folders.list({ vaultId, limit: PAGE_LIMIT }, { signal })) {
    const siblings = children.get(folder.parentId);
    if (siblings === undefined) children.set(folder.parentId, [folder]);
    else siblings.push(folder);
  }
  await folderCheck;
  const tree = { files: new Map<string, File>(), folders: new Map<string, Folder>() };
  const paths = new Map<string | null, string>([[folderId ?? null, ""]]);
  for (const [parent, path] of paths)
    for (const folder of children.get(parent) ?? []) {
      const at = claimPath(tree, pathIn(path, folder.name), folder, listing);
      if (at === null || paths.has(folder.id)) continue;
      tree.folders.set(at, folder);
      paths.set(folder.id, at);
    }
  const addFile = (file: File): void => {
    const path = paths.get(file.folderId);
    const at = path === undefined ? null : claimPath(tree, pathIn(path, file.name), file, listing);
    if (at !== null) tree.files.set(at, file);
  };
  for await (const file of filesOf(client, place, [...paths.keys()], listing)) {
    throwIfAborted(signal);
    addFile(file);
  }
  return tree;
}

async function requireFolder(
  client: Client,
  vaultId: string,
  folderId: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const folder = await client.folders.get(folderId, { signal });
  if (folder.vaultId !== vaultId || folder.trashedAt !== null)
    throw new ContractError("request", "folders.get", ["folderId: not a folder of this vault, or in the trash"]);
}

async function* filesOf(
  client: Client,
  { vaultId, folderId }: RemotePlace,
  folders: readonly (string | null)[],
  { lanes, signal }: ListingOptions,
): AsyncGenerator<File, void, undefined> {
  if (folderId === undefined || folders.length > MAX_LISTS) {
    yield* client.files.list({ vaultId, limit: PAGE_LIMIT }, { signal });
    return;
  }
  const files: File[] = [];
  await inLanes(folders, lanes, async (id) => {
    for await (const file of client.files.list({ vaultId, folderId: id ?? "root", limit: PAGE_LIMIT }, { signal }))
      files.push(file);
  });
  yield* files;
}

/** The path of an item whose name can be one. null: it has no place in the tree. */
function claimPath(tree: RemoteTree, path: string, item: File | Folder, { refuse }: ListingOptions): string | null {
  const problem = item.unreadable === undefined ? problemOf(item.name) : item.unreadable;
  if (problem !== null) {
    const idPath = pathIn(path.slice(0, Math.max(0, path.length - item.name.length - 1)), item.id);
    if (item.unreadable === undefined)
      refuse?.refuse(idPath, "invalid_name", `The name of ${item.id} cannot be a file's: it ${problem}`, RENAME);
    else refuse?.refuse(idPath, item.unreadable, `${item.id} cannot be read`, CHECK);
    return null;
  }
  const normal = path.normalize("NFC");
  if (tree.files.has(normal) || tree.folders.has(normal)) {
    refuse?.refuse(normal, "name_collision", `Two items of the vault are ${JSON.stringify(normal)}`, RENAME);
    if (refuse !== null) return null;
  }
  return normal;
}

/** By the first a service or a member could write into the trash, and what has the second is removed as left behind. */
function problemOf(name: string): string | null {
  if (isLocalTrash(name)) return "is that of the trash of this machine";
  return isLeftover(name) ? "is that of an unfinished download" : nameProblem(name);
}

const RENAME = "Rename it at the service, then call again.";
const CHECK = "Look at `vaults.checkAccess`, then call again.";

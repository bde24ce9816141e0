/** Items on their way into a local index: only what this client has verified gets there. */
import { SdkError, type VaultErrorCode } from "../http/errors.ts";
import type { File } from "../storage/file.ts";
import type { Folder } from "@coffer/contract";
import type { CallOptions, Connection } from "../connection/options.ts";
import { FILES, FOLDERS, type Item, type Items } from "../storage/items.ts";
import { nameItems } from "../shared-vaults/names/name-reader.ts";
import { vaultError } from "../shared-vaults/vault-error.ts";
import { type IndexKey, keyOfEntry } from "./index-file.ts";
import type { NameTable } from "./name-table.ts";

/** Codes of an item that say something of the vault: nothing can be read there now. */
const OF_ALL: ReadonlySet<string> = new Set<VaultErrorCode>([
  ...(["not_a_member", "membership_ended", "key_servers_unavailable", "key_servers_behind"] as const),
]);
const LANES = 8;

/** Where verified names go. */
export interface Taking {
  readonly connection: Connection;
  readonly vaultId: string;
  readonly table: NameTable;
}

type Named<Kind extends Item> = Kind & { readonly unreadable?: string };

/**
 * Takes files or folders that the service shows. What does not verify is left out; files of that kind are counted.
 * Resolves with the key of a verified entry; null: there is none.
 */
export async function takeItems<Kind extends Item>(
  { connection, vaultId, table }: Taking,
  items: Items<Kind>,
  shown: readonly Kind[],
  options: CallOptions,
): Promise<IndexKey | null> {
  const own = shown.filter((item) => item.vaultId === vaultId);
  const named: readonly Named<Kind>[] = await nameItems(connection, items, own, {}, options);
  const closed = named.find(({ unreadable = "" }) => OF_ALL.has(unreadable))?.unreadable;
  if (closed !== undefined)
    throw vaultError(closed as VaultErrorCode, `The names of vault ${vaultId} cannot be opened now`);
  for (const item of named) take(table, item);
  const entry = named.find(({ unreadable }) => unreadable === undefined)?.shared?.entry;
  return entry === undefined ? null : keyOfEntry(entry);
}

function take(table: NameTable, item: Named<File | Folder>): void {
  const { id, unreadable } = item;
  if ("contentType" in item) {
    table.remove(id);
    if (unreadable === undefined) table.put(rowOf(item));
    else table.unreadable.add(id);
  } else if (unreadable === undefined) table.folders.set(id, { parentId: item.parentId, trashedAt: item.trashedAt });
}

function rowOf(file: File) {
  const { id, versionId, revision, name, contentType, size, folderId, createdAt, updatedAt, trashedAt } = file;
  const authors = { createdBy: addressOf(file.createdBy), updatedBy: addressOf(file.updatedBy) };
  return { id, versionId, revision, name, contentType, size, folderId, createdAt, updatedAt, trashedAt, ...authors };
}

function addressOf(author: { readonly chainAddress: string | null } | null): string | null {
  return author?.chainAddress ?? null;
}

/** Files or folders as they are now, by their ids. What is gone, or is in another vault, leaves the table. */
export async function takeChanged(
  taking: Taking,
  kind: "file" | "folder",
  ids: Iterable<string>,
  options: CallOptions,
): Promise<IndexKey | null> {
  return kind === "file" ? takeEach(taking, FILES, ids, options) : takeEach(taking, FOLDERS, ids, options);
}

async function takeEach<Kind extends Item>(
  taking: Taking,
  items: Items<Kind>,
  ids: Iterable<string>,
  options: CallOptions,
): Promise<IndexKey | null> {
  const [found, left] = [[] as Kind[], [...ids].values()];
  const lane = async (): Promise<void> => {
    for (const id of left) {
      const item = await orGone(items.get(taking.connection, id, options));
      if (item?.id === id && item.vaultId === taking.vaultId) found.push(item);
      else if (items.kind === "file") taking.table.remove(id);
      else taking.table.folders.delete(id);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return takeItems(taking, items, found, options);
}

async function orGone<Kind extends Item>(read: Promise<Kind>): Promise<Kind | null> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof SdkError && error.code === "not_found") return null;
    throw error;
  }
}

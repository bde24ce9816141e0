/** Adds files and folders to a local index: only what this client has verified gets there. */
import { inLanes } from "../http/concurrency.ts";
import type { VaultErrorCode } from "../http/errors.ts";
import type { WireFile } from "../storage/file.ts";
import type { Folder } from "@coffer/contract";
import type { CallOptions, Connection } from "../connection/options.ts";
import { FILES, FOLDERS, type Item, type Items, orGone } from "../storage/items.ts";
import { nameItems } from "../shared-vaults/names/name-reader.ts";
import { vaultError } from "../shared-vaults/vault-error.ts";
import { type IndexKey, keyOfEntry } from "./stored-index.ts";
import type { NameTable } from "./name-table.ts";

/** Codes of an item that say something of the vault: nothing can be read there now. */
const OF_ALL: ReadonlySet<string> = new Set<VaultErrorCode>([
  ...(["not_a_member", "membership_ended", "key_servers_unavailable", "key_servers_behind"] as const),
]);
const LANES = 8;

/** The index that verified names go to. */
export interface IndexTarget {
  readonly connection: Connection;
  readonly vaultId: string;
  readonly table: NameTable;
}

type Named<Kind extends Item> = Kind & { readonly unreadable?: string; readonly tag?: string };

/**
 * Indexes files or folders that the service lists. What does not verify is left out; files of that kind are counted.
 * Resolves with the key of a verified entry; null: there is none.
 */
export async function indexItems<Kind extends Item>(
  { connection, vaultId, table }: IndexTarget,
  items: Items<Kind>,
  listed: readonly Kind[],
  options: CallOptions,
): Promise<IndexKey | null> {
  const own = listed.filter((item) => item.vaultId === vaultId);
  const named: readonly Named<Kind>[] = await nameItems(connection, items, own, {}, options);
  const closed = named.find(({ unreadable = "" }) => OF_ALL.has(unreadable))?.unreadable;
  if (closed !== undefined)
    throw vaultError(closed as VaultErrorCode, `The names of vault ${vaultId} cannot be opened now`);
  for (const item of named) indexItem(table, item);
  const entry = named.find(({ unreadable }) => unreadable === undefined)?.shared?.entry;
  return entry === undefined ? null : keyOfEntry(entry);
}

function indexItem(table: NameTable, item: Named<WireFile | Folder>): void {
  const { id, unreadable } = item;
  if ("contentType" in item) {
    const { folderId: parentId, trashedAt } = item;
    if (unreadable === undefined) table.put(rowOf(item));
    else table.putUnreadable(id, { item: "file", parentId, trashedAt, code: unreadable });
  } else {
    const { name, parentId, tag = "", trashedAt } = item;
    if (unreadable === undefined) table.putFolder(id, { name, tag, parentId, trashedAt });
    else table.putUnreadable(id, { item: "folder", parentId, trashedAt, code: unreadable });
  }
}

function rowOf(file: WireFile) {
  const { id, versionId, revision, name, contentType, size, folderId, createdAt, updatedAt, trashedAt } = file;
  const authors = { createdBy: addressOf(file.createdBy), updatedBy: addressOf(file.updatedBy) };
  const facts = { id, versionId, revision, name, contentType, size, folderId, createdAt, updatedAt, trashedAt };
  return { ...facts, ...authors, tag: file.tag ?? "", sha256: file.sha256 };
}

function addressOf(author: { readonly chainAddress: string | null } | null): string | null {
  return author?.chainAddress ?? null;
}

/** Files or folders as they are now, by their ids. What is gone, or is in another vault, leaves the table. */
export async function reindexItems(
  target: IndexTarget,
  kind: "file" | "folder",
  ids: Iterable<string>,
  options: CallOptions,
): Promise<IndexKey | null> {
  return kind === "file" ? reindexKind(target, FILES, ids, options) : reindexKind(target, FOLDERS, ids, options);
}

async function reindexKind<Kind extends Item>(
  target: IndexTarget,
  items: Items<Kind>,
  ids: Iterable<string>,
  options: CallOptions,
): Promise<IndexKey | null> {
  const present: Kind[] = [];
  await inLanes(ids, LANES, async (id) => {
    const item = await orGone(items.get(target.connection, id, options));
    if (item?.id === id && item.vaultId === target.vaultId) present.push(item);
    else if (items.kind === "file") target.table.remove(id);
    else target.table.removeFolder(id);
  });
  return indexItems(target, items, present, options);
}

/** Files and folders are items: their common calls are written once, and their differences are here. */
import {
  filesGroup,
  foldersGroup,
  type FileEntry,
  type Folder,
  type FolderEntry,
  type SharedEntry,
} from "@coffer/contract";
import type { Metadata } from "@coffer/crypto";
import { callOn } from "../http/call.ts";
import { SdkError } from "../http/errors.ts";
import { everyPage, type PageCursor } from "../http/every-page.ts";
import type { WireFile } from "./file.ts";
import type { CallOptions, Connection } from "../connection/options.ts";
import { tagged } from "../http/tag.ts";

export type Item = WireFile | Folder;

/** What the wire has of an entry. */
export type Entry = FileEntry | FolderEntry;

export interface EntryPage<Kind extends Entry> {
  readonly entries: Kind[];
  readonly nextCursor: string | null;
}

/** The changes; absent: unchanged. `parentId: null`: to the top of the vault. */
export interface ItemChange {
  readonly name?: string | undefined;
  readonly parentId?: string | null | undefined;
}

/** A client that cannot verify what members signed shows nobody as the author. */
export function withoutClaims<Kind extends Item>(item: Kind): Kind {
  return item.shared === null ? tagged(item) : { ...item, createdBy: null, updatedBy: null };
}

/** A change with the additions that a shared vault's item needs. */
export interface SentChange extends ItemChange {
  readonly shared?: SharedEntry;
}

export interface ItemQuery {
  readonly vaultId: string;
  /** `root`: the top of the vault. Absent: everywhere in it. */
  readonly parentId?: string | undefined;
  readonly trashed?: boolean;
  readonly limit: number;
}

/** The calls of one kind of items. */
export interface Items<Kind extends Item> {
  readonly kind: "file" | "folder";
  readonly updateId: string;
  readonly restoreId: string;
  get(connection: Connection, id: string, options?: CallOptions): Promise<Kind>;
  update(
    connection: Connection,
    id: string,
    change: SentChange,
    headers: IfMatchHeader,
    options: CallOptions,
  ): Promise<Kind>;
  restore(
    connection: Connection,
    id: string,
    change: Omit<SentChange, "parentId">,
    headers: IfMatchHeader,
    options: CallOptions,
  ): Promise<Kind>;
  /** All items that the service lists, page by page. */
  list(
    connection: Connection,
    query: ItemQuery,
    options?: CallOptions,
  ): AsyncGenerator<readonly Kind[], void, undefined>;
  /** The item as its members see it. */
  named(item: Kind, metadata: Metadata): Kind;
}

interface IfMatchHeader {
  readonly "if-match"?: string;
}

/** The header of a change under a condition. */
export function ifMatchHeader(ifMatch: string | undefined): IfMatchHeader {
  return ifMatch === undefined ? {} : { "if-match": ifMatch };
}

export const FILES: Items<WireFile> = {
  kind: "file",
  updateId: filesGroup.update.id,
  restoreId: filesGroup.restore.id,
  get: async (connection, fileId, options) =>
    (await callOn(connection, filesGroup.get, { params: { fileId } }, options)).file,
  update: async (connection, fileId, { shared, ...change }, headers, options) => {
    const body = { ...fileFacts(change), ...(shared === undefined ? {} : { shared }) };
    return (await callOn(connection, filesGroup.update, { params: { fileId }, headers, body }, options)).file;
  },
  restore: async (connection, fileId, body, headers, options) =>
    (await callOn(connection, filesGroup.restore, { params: { fileId }, headers, body }, options)).file,
  list: async function* (connection, { parentId, ...rest }, options) {
    const { list } = filesGroup;
    const query = { ...rest, ...(parentId === undefined ? {} : { folderId: parentId }) };
    const load = (place: PageCursor) => callOn(connection, list, { query: { ...query, ...place } }, options);
    for await (const { files } of everyPage(list.id, load)) yield files;
  },
  named: (file, { name, contentType, size }) => ({
    ...file,
    name,
    contentType,
    size,
    storedSize: file.size,
    encrypted: true,
  }),
};

function fileFacts({ name, parentId }: ItemChange): { readonly name?: string; readonly folderId?: string | null } {
  return { ...(name === undefined ? {} : { name }), ...(parentId === undefined ? {} : { folderId: parentId }) };
}

export const FOLDERS: Items<Folder> = {
  kind: "folder",
  updateId: foldersGroup.update.id,
  restoreId: foldersGroup.restore.id,
  get: async (connection, folderId, options) =>
    (await callOn(connection, foldersGroup.get, { params: { folderId } }, options)).folder,
  update: async (connection, folderId, body, headers, options) =>
    (await callOn(connection, foldersGroup.update, { params: { folderId }, headers, body }, options)).folder,
  restore: async (connection, folderId, body, headers, options) =>
    (await callOn(connection, foldersGroup.restore, { params: { folderId }, headers, body }, options)).folder,
  list: async function* (connection, query, options) {
    const { list } = foldersGroup;
    const load = (place: PageCursor) => callOn(connection, list, { query: { ...query, ...place } }, options);
    for await (const { folders } of everyPage(list.id, load)) yield folders;
  },
  named: (folder, { name }) => ({ ...folder, name }),
};

/** The item; null: it was deleted for good, or this client may not see it now. */
export async function orGone<Kind extends Item>(read: Promise<Kind>): Promise<Kind | null> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof SdkError && error.code === "not_found") return null;
    throw error;
  }
}

const PAGE_LIMIT = 100;

/** All items of a vault, those in the trash last; `trash: false`: without them. */
export async function* everyItem<Kind extends Item>(
  connection: Connection,
  items: Items<Kind>,
  vaultId: string,
  signal: AbortSignal | undefined,
  trash = true,
): AsyncGenerator<Kind, void, undefined> {
  for (const trashed of trash ? [false, true] : [false])
    for await (const page of items.list(connection, { vaultId, trashed, limit: PAGE_LIMIT }, { signal })) yield* page;
}

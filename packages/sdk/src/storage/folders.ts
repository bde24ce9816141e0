/** Folders. Names in shared vaults are decrypted, and encrypted, on the way. */
import { folderEntriesGroup, foldersGroup, type api } from "@coffer/contract";
import type { CallOptions, ConditionOptions, Connection, UpdateOptions } from "../connection/options.ts";
import { sharedCode, sharedCodeOrNull } from "../connection/shared-code.ts";
import { callOn } from "../http/call.ts";
import type { Body, ListQuery } from "../http/endpoint-types.ts";
import { paged, type PagePromise } from "../http/pages.ts";
import { MOVE, NEW_ITEM, refuseUndefinedPlaces } from "../http/required-fields.ts";
import { verifiedEntries } from "./entries.ts";
import { ItemCalls } from "./item-calls.ts";
import type { Folder, FolderEntry } from "./item-types.ts";
import { FOLDERS, ifMatchHeader, withoutClaims } from "./items.ts";
import { indexQuery, listingOptions } from "./name-query.ts";

/** Input of `folders.create`. */
export interface FolderCreateInput extends Omit<Body<typeof api.folders.create>, "shared"> {}

/** Input of `folders.list`. */
export interface FolderListQuery extends Omit<ListQuery<typeof api.folders.list>, "nameIndex"> {}

/** Input of `folders.update`. */
export interface FolderUpdateInput extends Omit<Body<typeof api.folders.update>, "shared"> {}

/** Input of `folders.restore`. */
export interface FolderRestoreInput extends Omit<Body<typeof api.folders.restore>, "shared"> {}

/** Input of `folders.entries`. */
export interface FolderEntriesQuery extends ListQuery<typeof api.folders.entries> {}

export interface FolderResource {
  /** Makes a folder at the top of a vault or in another folder. */
  create(input: FolderCreateInput, options?: CallOptions): Promise<Folder>;
  /** Lists folders, newest first. `parentId: "root"` lists those at the top. */
  list(query?: FolderListQuery, options?: CallOptions): PagePromise<"folders", Folder>;
  /** Reads one folder. */
  get(folderId: string, options?: CallOptions): Promise<Folder>;
  /** Renames a folder, or moves it in its vault. `parentId: null` moves it to the top. */
  update(folderId: string, changes: FolderUpdateInput, options?: UpdateOptions): Promise<Folder>;
  /** Moves the folder and all below it to the trash. */
  delete(folderId: string, options?: ConditionOptions): Promise<Folder>;
  /** Brings a folder back from the trash, with everything that went there with it. */
  restore(folderId: string, changes?: FolderRestoreInput, options?: UpdateOptions): Promise<Folder>;
  /** Names and places that the folder had, as `files.entries` has them of a file. */
  entries(folderId: string, query?: FolderEntriesQuery, options?: CallOptions): PagePromise<"entries", FolderEntry>;
}

export function folderResource(connection: Connection): FolderResource {
  const { create, list } = foldersGroup;
  const items = new ItemCalls(connection, FOLDERS);
  return {
    create: async (body, options) => {
      refuseUndefinedPlaces(create.id, body, NEW_ITEM);
      const shared = await (await sharedCodeOrNull(connection))?.createFolder(connection, body, options);
      return shared ?? withoutClaims((await callOn(connection, create, { body }, options)).folder);
    },
    list: (firstQuery = {}, options) =>
      paged("folders", firstQuery, async (query) => {
        const sent = await indexQuery(connection, query, query.parentId, options);
        if (sent === null) return { folders: [], nextCursor: null };
        const page = await callOn(connection, list, { query: sent }, listingOptions(query, options));
        if (connection.sharedVaults === null) return { ...page, folders: page.folders.map(withoutClaims) };
        const { nameItems } = await sharedCode(connection);
        const scope = { ...query, folderId: query.parentId };
        return { ...page, folders: await nameItems(connection, FOLDERS, page.folders, scope, options) };
      }),
    get: (folderId, options) => items.get(folderId, options),
    update: async (folderId, changes, options) => {
      refuseUndefinedPlaces(foldersGroup.update.id, changes, MOVE);
      return items.update(folderId, changes, options);
    },
    delete: async (folderId, { ifMatch, ...options } = {}) => {
      const input = { params: { folderId }, headers: ifMatchHeader(ifMatch) };
      return items.named((await callOn(connection, foldersGroup.delete, input, options)).folder, options);
    },
    restore: (folderId, changes, options) => items.restore(folderId, changes, options),
    entries: (folderId, firstQuery = {}, options) =>
      paged("entries", firstQuery, (query) =>
        verifiedEntries(connection, { kind: "folder", id: folderId }, query, () =>
          callOn(connection, folderEntriesGroup.entries, { params: { folderId }, query }, options),
        ),
      ),
  };
}

/** The calls behind {@link FolderResource} and {@link TrashResource}: they decrypt names of shared vaults. */
import { foldersGroup, trashGroup } from "@coffer/contract";
import { callOn } from "../http/call.ts";
import type { CallOptions, ConditionOptions, Connection, UpdateOptions } from "../connection/options.ts";
import { NEW_ITEM, refuseUndefinedPlaces } from "../http/required-fields.ts";
import type { Body, Query } from "../connection/call-fields.ts";
import { emptyTrash } from "./deletion-calls.ts";
import { entryCalls } from "./entry-calls.ts";
import { itemCalls } from "./item-calls.ts";
import { FILES, FOLDERS, matching, withoutClaims } from "./items.ts";
import { eachUnnamed, sharedChanges, toKnownNames } from "./known-names.ts";
import { requirePinned } from "./plain-vault-calls.ts";
import { sharedCode } from "../connection/shared-code.ts";

type Folders = typeof foldersGroup;

export function folderCalls(connection: Connection) {
  const { create, list } = foldersGroup;
  const { one, get, update, restore } = itemCalls(connection, FOLDERS);
  return {
    get,
    restore,
    entries: entryCalls(connection).folderEntries,
    create: async (body: Body<Folders["create"]>, options?: CallOptions) => {
      refuseUndefinedPlaces(create.id, body, NEW_ITEM);
      const shared = await (await sharedChanges(connection))?.createFolder(connection, body, options);
      return shared ?? withoutClaims((await callOn(connection, create, { body }, options)).folder);
    },
    list: async (query: Query<Folders["list"]>, options?: CallOptions) => {
      const wanted = await toKnownNames(connection, query, query.parentId, options);
      if (wanted === null) return { folders: [], nextCursor: null };
      const page = await callOn(connection, list, { query: wanted }, eachUnnamed(query, options));
      if (connection.sharedVaults === null) return { ...page, folders: page.folders.map(withoutClaims) };
      const { nameItems } = await sharedCode(connection);
      const asked = { ...query, folderId: query.parentId };
      return { ...page, folders: await nameItems(connection, FOLDERS, page.folders, asked, options) };
    },
    update: (folderId: string, given: Body<Folders["update"]>, updating: UpdateOptions = {}) =>
      update(folderId, given, { ...updating, given }),
    delete: async (folderId: string, { ifMatch, ...options }: ConditionOptions = {}) => {
      const input = { params: { folderId }, headers: matching(ifMatch) };
      return one((await callOn(connection, foldersGroup.delete, input, options)).folder, options);
    },
  };
}

export function trashCalls(connection: Connection) {
  const { list } = trashGroup;
  return {
    list: async (query: Query<typeof list>, options?: CallOptions) => {
      const listing = { ...options, eachByItself: true };
      const { files, nextCursor } = await callOn(connection, list, { query }, listing);
      if (connection.sharedVaults === null) return { files: files.map(withoutClaims), nextCursor };
      const { nameItems } = await sharedCode(connection);
      return { files: await nameItems(connection, FILES, files, { ...query, trashed: true }, options), nextCursor };
    },
    vaults: async (query: Query<typeof list>, options?: CallOptions) => {
      const { vaults, nextCursor } = await callOn(connection, list, { query: { ...query, kind: "vaults" } }, options);
      await requirePinned(connection, vaults);
      return { vaults, nextCursor };
    },
    empty: (query: Query<typeof trashGroup.empty> = {}, options?: CallOptions) =>
      emptyTrash(connection, query, options),
  };
}

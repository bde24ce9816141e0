/** The calls behind {@link FolderResource} and {@link TrashResource}: names of shared vaults are opened here. */
import { clientApi as api, type Folder } from "@coffer/contract";
import { trashGroup } from "@coffer/contract/trash";
import { callOn, settleRepeat } from "../call.ts";
import type { Connection, CallOptions, PlaceOptions, UpdateOptions } from "../options.ts";
import { MOVE, NEW_ITEM, refuseUndefinedPlaces } from "../undefined-place.ts";
import type { Body, Query } from "./calling.ts";
import { emptyTrash } from "./deletion-calls.ts";
import { eachUnnamed, isRestored, sharedChanges, toKnownNames } from "./known-names.ts";
import { isChanged, revisionHeader } from "./revisions.ts";

type Folders = typeof api.folders;

export function folderCalls(connection: Connection) {
  const { create, list, get, update, restore } = api.folders;
  const changes = () => sharedChanges(connection);
  const opened = connection.sharedVaults === null ? null : () => import("../vaults/names/listing.ts");
  const one = async (folder: Folder, options?: CallOptions): Promise<Folder> =>
    (await opened?.())?.nameOneFolder(connection, folder, options) ?? folder;
  return {
    create: async (body: Body<Folders["create"]>, options?: CallOptions) => {
      refuseUndefinedPlaces(create.id, body, NEW_ITEM);
      const shared = await (await changes())?.createFolder(connection, body, options);
      return shared ?? (await callOn(connection, create, { body }, options)).folder;
    },
    list: async (query: Query<Folders["list"]>, options?: CallOptions) => {
      const wanted = await toKnownNames(connection, query, query.parentId, options);
      if (wanted === null) return { folders: [], nextCursor: null };
      const page = await callOn(connection, list, { query: wanted }, eachUnnamed(query, options));
      const asked = { ...query, folderId: query.parentId };
      const folders = (await (await opened?.())?.nameFolders(connection, page.folders, asked, options)) ?? page.folders;
      return { ...page, folders };
    },
    get: async (folderId: string, options?: CallOptions) =>
      one((await callOn(connection, get, { params: { folderId } }, options)).folder, options),
    update: async (folderId: string, body: Body<Folders["update"]>, updating: UpdateOptions = {}) => {
      refuseUndefinedPlaces(update.id, body, MOVE);
      refuseUndefinedPlaces(update.id, updating, MOVE);
      const { ifRevision, vaultId: _vaultId, ...options } = updating;
      const shared = await (await changes())?.updateFolder(connection, folderId, body, updating);
      if (shared != null) return shared;
      const params = { folderId };
      const { folder } = await settleRepeat(
        callOn(connection, update, { params, headers: revisionHeader(ifRevision), body }, options),
        "precondition_failed",
        () =>
          callOn(connection, get, { params }, options).then((now) =>
            isChanged(now.folder, body as Partial<Folder>, ifRevision) ? now : null,
          ),
      );
      return one(folder, options);
    },
    delete: async (folderId: string, options?: CallOptions) =>
      one((await callOn(connection, api.folders.delete, { params: { folderId } }, options)).folder, options),
    restore: async (folderId: string, body: Body<Folders["restore"]> = {}, restoring: PlaceOptions = {}) => {
      refuseUndefinedPlaces(restore.id, restoring, MOVE);
      const { vaultId: _vaultId, ...options } = restoring;
      const shared = await (await changes())?.restoreFolder(connection, folderId, body.name, restoring);
      if (shared != null) return shared;
      const params = { folderId };
      const { folder } = await settleRepeat(callOn(connection, restore, { params, body }, options), "not_trashed", () =>
        callOn(connection, get, { params }, options).then((now) => (isRestored(now.folder, body.name) ? now : null)),
      );
      return one(folder, options);
    },
  };
}

export function trashCalls(connection: Connection) {
  const { list } = trashGroup;
  return {
    list: async (query: Query<typeof list>, options?: CallOptions) => {
      const listing = { ...options, eachByItself: true };
      const { files, nextCursor } = await callOn(connection, list, { query }, listing);
      if (connection.sharedVaults === null) return { files, nextCursor };
      const { nameFiles } = await import("../vaults/names/listing.ts");
      return { files: await nameFiles(connection, files, { ...query, trashed: true }, options), nextCursor };
    },
    vaults: async (query: Query<typeof list>, options?: CallOptions) => {
      const { vaults, nextCursor } = await callOn(connection, list, { query: { ...query, kind: "vaults" } }, options);
      return { vaults, nextCursor };
    },
    empty: (query: Query<typeof trashGroup.empty> = {}, options?: CallOptions) =>
      emptyTrash(connection, query, options),
  };
}

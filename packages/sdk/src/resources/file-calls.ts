/** The calls behind FileResource that move no bytes: names of shared vaults are opened here. */
import { clientApi as api } from "@coffer/contract";
import { callOn, settleRepeat } from "../call.ts";
import type { File, FileChanges } from "../file.ts";
import type { Connection, CallOptions, PlaceOptions, UpdateOptions } from "../options.ts";
import { MOVE, refuseUndefinedPlaces } from "../undefined-place.ts";
import type { Query } from "./calling.ts";
import { deleteWithProof } from "./deletion-calls.ts";
import { eachUnnamed, isRestored, sharedChanges, toKnownNames } from "./known-names.ts";
import { isChanged, revisionHeader } from "./revisions.ts";

export function fileCalls(connection: Connection) {
  const { list, get, update, restore } = api.files;
  const changes = () => sharedChanges(connection);
  const opened = connection.sharedVaults === null ? null : () => import("../vaults/names/listing.ts");
  const one = async (file: File, options?: CallOptions): Promise<File> =>
    (await opened?.())?.nameOneFile(connection, file, options) ?? file;
  return {
    list: async (query: Query<typeof list>, options?: CallOptions) => {
      const wanted = await toKnownNames(connection, query, query.folderId, options);
      if (wanted === null) return { files: [], nextCursor: null };
      const page = await callOn(connection, list, { query: wanted }, eachUnnamed(query, options));
      const files = (await (await opened?.())?.nameFiles(connection, page.files, query, options)) ?? page.files;
      return { ...page, files };
    },
    get: async (fileId: string, options?: CallOptions) =>
      one((await callOn(connection, get, { params: { fileId } }, options)).file, options),
    update: async (fileId: string, change: FileChanges, updating: UpdateOptions = {}) => {
      refuseUndefinedPlaces(update.id, change, MOVE);
      refuseUndefinedPlaces(update.id, updating, MOVE);
      const { ifRevision, vaultId: _vaultId, ...options } = updating;
      const shared = await (await changes())?.updateFile(connection, fileId, change, updating);
      if (shared != null) return shared;
      const params = { fileId };
      const body = definedOnly(change);
      const { file } = await settleRepeat(
        callOn(connection, update, { params, headers: revisionHeader(ifRevision), body }, options),
        "precondition_failed",
        () =>
          callOn(connection, get, { params }, options).then((now) =>
            isChanged(now.file, body, ifRevision) ? now : null,
          ),
      );
      return one(file, options);
    },
    delete: async (
      fileId: string,
      { permanent, ...options }: CallOptions & { readonly permanent?: boolean | undefined } = {},
    ) => {
      const query = permanent === undefined ? {} : { permanent };
      const deleted = await deleteWithProof(
        connection,
        { act: "delete-file", fileId },
        (headers) => callOn(connection, api.files.delete, { params: { fileId }, query, headers }, options),
        options,
      );
      return deleted === undefined ? null : one(deleted.file, options);
    },
    restore: async (fileId: string, body: { readonly name?: string } = {}, restoring: PlaceOptions = {}) => {
      refuseUndefinedPlaces(restore.id, restoring, MOVE);
      const { vaultId: _vaultId, ...options } = restoring;
      const shared = await (await changes())?.restoreFile(connection, fileId, body.name, restoring);
      if (shared != null) return shared;
      const params = { fileId };
      const { file } = await settleRepeat(callOn(connection, restore, { params, body }, options), "not_trashed", () =>
        callOn(connection, get, { params }, options).then((now) => (isRestored(now.file, body.name) ? now : null)),
      );
      return one(file, options);
    },
  };
}

function definedOnly({ name, folderId }: FileChanges): { name?: string; folderId?: string | null } {
  return { ...(name === undefined ? {} : { name }), ...(folderId === undefined ? {} : { folderId }) };
}

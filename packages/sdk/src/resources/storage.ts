/** Vaults, folders and the trash: each method is one endpoint of the contract, its answer unwrapped. */
import { clientApi as api, type File, type Folder, type Vault } from "@coffer/contract";
import { callOn, settleRepeat, type CallOptions } from "../call.ts";
import type { Connection } from "../options.ts";
import { PagePromise } from "../pages.ts";
import { withCursor, type Body, type Query } from "./calling.ts";

type Vaults = typeof api.vaults;
type Folders = typeof api.folders;

export interface VaultResource {
  create(input: Body<Vaults["create"]>, options?: CallOptions): Promise<Vault>;
  /** Newest first. */
  list(query?: Query<Vaults["list"]>, options?: CallOptions): PagePromise<"vaults", Vault>;
  get(vaultId: string, options?: CallOptions): Promise<Vault>;
  update(vaultId: string, changes: Body<Vaults["update"]>, options?: CallOptions): Promise<Vault>;
  /** Fails with `vault_not_empty` unless `force`, which deletes the files for good. */
  delete(vaultId: string, options?: CallOptions & { readonly force?: boolean | undefined }): Promise<void>;
}

export function vaultResource(connection: Connection): VaultResource {
  const { create, list, get, update } = api.vaults;
  return {
    create: async (body, options) => (await callOn(connection, create, { body }, options)).vault,
    list: (query = {}, options) =>
      new PagePromise(
        "vaults",
        (cursor) => callOn(connection, list, { query: withCursor(query, cursor) }, options),
        query.cursor,
      ),
    get: async (vaultId, options) => (await callOn(connection, get, { params: { vaultId } }, options)).vault,
    update: async (vaultId, body, options) =>
      (await callOn(connection, update, { params: { vaultId }, body }, options)).vault,
    delete: async (vaultId, { force, ...options } = {}) =>
      callOn(
        connection,
        api.vaults.delete,
        { params: { vaultId }, query: force === undefined ? {} : { force } },
        options,
      ),
  };
}

export interface FolderResource {
  create(input: Body<Folders["create"]>, options?: CallOptions): Promise<Folder>;
  /** Newest first. `parentId: "root"` for those at the top. */
  list(query?: Query<Folders["list"]>, options?: CallOptions): PagePromise<"folders", Folder>;
  get(folderId: string, options?: CallOptions): Promise<Folder>;
  update(folderId: string, changes: Body<Folders["update"]>, options?: CallOptions): Promise<Folder>;
  /** Moves the folder and all below it to the trash. */
  delete(folderId: string, options?: CallOptions): Promise<Folder>;
  restore(folderId: string, changes?: Body<Folders["restore"]>, options?: CallOptions): Promise<Folder>;
}

export function folderResource(connection: Connection): FolderResource {
  const { create, list, get, update, restore } = api.folders;
  return {
    create: async (body, options) => (await callOn(connection, create, { body }, options)).folder,
    list: (query = {}, options) =>
      new PagePromise(
        "folders",
        (cursor) => callOn(connection, list, { query: withCursor(query, cursor) }, options),
        query.cursor,
      ),
    get: async (folderId, options) => (await callOn(connection, get, { params: { folderId } }, options)).folder,
    update: async (folderId, body, options) =>
      (await callOn(connection, update, { params: { folderId }, body }, options)).folder,
    delete: async (folderId, options) =>
      (await callOn(connection, api.folders.delete, { params: { folderId } }, options)).folder,
    restore: async (folderId, body = {}, options) => {
      const params = { folderId };
      const { folder } = await settleRepeat(callOn(connection, restore, { params, body }, options), "not_trashed", () =>
        callOn(connection, get, { params }, options).then((now) => (isRestored(now.folder, body.name) ? now : null)),
      );
      return folder;
    },
  };
}

/** Out of the trash, under the name that was asked for: an earlier attempt of a restore has done it. */
export function isRestored(item: Pick<File, "name" | "trashedAt">, name: string | undefined): boolean {
  return item.trashedAt === null && (name === undefined || item.name === name.normalize("NFC"));
}

export interface TrashResource {
  list(query?: Query<typeof api.trash.list>, options?: CallOptions): PagePromise<"files", File>;
  /** Deletes what is in the trash for good. */
  empty(query?: Query<typeof api.trash.empty>, options?: CallOptions): Promise<void>;
}

export function trashResource(connection: Connection): TrashResource {
  return {
    list: (query = {}, options) =>
      new PagePromise(
        "files",
        (cursor) => callOn(connection, api.trash.list, { query: withCursor(query, cursor) }, options),
        query.cursor,
      ),
    empty: (query = {}, options) => callOn(connection, api.trash.empty, { query }, options),
  };
}

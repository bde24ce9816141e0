/** The resources without bytes: each method is one endpoint of the contract, its answer unwrapped. */
import {
  api,
  type Account,
  type ApiKey,
  type CallInput,
  type CreatedApiKey,
  type Credential,
  type EndpointDefinition,
  type File,
  type Folder,
  type Vault,
} from "@coffer/contract";
import type { ByteBody } from "./byte-body.ts";
import { send, settleRepeat, type CallOptions, type CallOutput } from "./call.ts";
import type { Connection } from "./options.ts";
import { PagePromise } from "./pages.ts";

type Query<E extends EndpointDefinition> =
  CallInput<E, ByteBody> extends { readonly query?: infer Value } ? NonNullable<Value> : never;
type Body<E extends EndpointDefinition> =
  CallInput<E, ByteBody> extends { readonly body?: infer Value } ? NonNullable<Value> : never;
type Vaults = typeof api.vaults;
type Folders = typeof api.folders;
type Keys = typeof api.apiKeys;

/** The output of one call, without what came around it. */
export async function callOn<E extends EndpointDefinition>(
  connection: Connection,
  endpoint: E,
  input: CallInput<E, ByteBody>,
  options?: CallOptions,
): Promise<CallOutput<E>> {
  return (await send(connection, endpoint, input, options)).output;
}

export interface AccountResource {
  /** The account, and what this client's credential may do. */
  get(options?: CallOptions): Promise<{ account: Account; credential: Credential }>;
  update(changes: Body<typeof api.account.update>, options?: CallOptions): Promise<Account>;
}

export function accountResource(connection: Connection): AccountResource {
  return {
    get: (options) => callOn(connection, api.account.get, {}, options),
    update: async (body, options) => (await callOn(connection, api.account.update, { body }, options)).account,
  };
}

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

export interface ApiKeyResource {
  /** The raw key is in this answer and nowhere else. */
  create(input: Body<Keys["create"]>, options?: CallOptions): Promise<CreatedApiKey>;
  list(query?: Query<Keys["list"]>, options?: CallOptions): PagePromise<"apiKeys", ApiKey>;
  get(keyId: string, options?: CallOptions): Promise<ApiKey>;
  /** At once; a second call changes nothing. */
  revoke(keyId: string, options?: CallOptions): Promise<void>;
  rotate(keyId: string, input?: Body<Keys["rotate"]>, options?: CallOptions): Promise<CreatedApiKey>;
}

export function apiKeyResource(connection: Connection): ApiKeyResource {
  const { create, list, get, revoke, rotate } = api.apiKeys;
  return {
    create: (body, options) => callOn(connection, create, { body }, options),
    list: (query = {}, options) =>
      new PagePromise(
        "apiKeys",
        (cursor) => callOn(connection, list, { query: withCursor(query, cursor) }, options),
        query.cursor,
      ),
    get: async (keyId, options) => (await callOn(connection, get, { params: { keyId } }, options)).apiKey,
    revoke: (keyId, options) => callOn(connection, revoke, { params: { keyId } }, options),
    rotate: (keyId, body = {}, options) => callOn(connection, rotate, { params: { keyId }, body }, options),
  };
}

export interface DevelopmentResource {
  /** Makes an account with a key; 404 outside development. */
  signup(
    input: Body<typeof api.development.signup>,
    options?: CallOptions,
  ): Promise<{ id: string; email: string; apiKey: string; warning: string }>;
}

export function developmentResource(connection: Connection): DevelopmentResource {
  return { signup: (body, options) => callOn(connection, api.development.signup, { body }, options) };
}

/** The query for one page; the first keeps the caller's own cursor. */
export function withCursor<Fields extends object>(
  query: Fields,
  cursor: string | undefined,
): Fields & { cursor?: string } {
  return cursor === undefined ? query : { ...query, cursor };
}

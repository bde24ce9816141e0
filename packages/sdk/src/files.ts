import { clientApi as api, type CallInput, type EndpointDefinition } from "@coffer/contract";
import type { ByteBody } from "./byte-body.ts";
import { callOn, settleRepeat, type CallOptions } from "./call.ts";
import type { Download, DownloadOptions } from "./download/download.ts";
import type { File } from "./file.ts";
import type { Connection } from "./options.ts";
import { PagePromise } from "./pages.ts";
import { withCursor } from "./resources/calling.ts";
import { isRestored, sharedChanges, toKnownNames } from "./resources/known-names.ts";
import type { ReplaceInput, UploadInput, UploadOptions, UploadResult } from "./upload/upload.ts";

type Query<E extends EndpointDefinition> =
  CallInput<E, ByteBody> extends { readonly query?: infer Value } ? NonNullable<Value> : never;

/** Changes of a file's place. `folderId: null`: to the top of the vault. */
export interface FileChanges {
  readonly name?: string | undefined;
  readonly folderId?: string | null | undefined;
}

export interface FileResource {
  /** Newest first. `folderId: "root"` for those at the top; `name` finds the exact name. */
  list(query?: Query<typeof api.files.list>, options?: CallOptions): PagePromise<"files", File>;
  get(fileId: string, options?: CallOptions): Promise<File>;
  /**
   * Stores bytes as a new file: in one request up to a part's size (8 MiB), above in resumable parts. The digest is computed
   * here and compared with the server's; an abort frees what the server holds of it.
   *
   * @example
   * ```ts
   * const body = new TextEncoder().encode("hello");
   * const { file, sha256 } = await client.files.upload({ vaultId, name: "hello.txt", contentType: "text/plain", body });
   * console.log(file.id, sha256);
   * ```
   */
  upload(input: UploadInput, options?: UploadOptions): Promise<UploadResult>;
  /** Stores bytes as the file's new version. */
  replace(fileId: string, input: ReplaceInput, options?: UploadOptions): Promise<UploadResult>;
  /**
   * Opens the content. A whole read fails at its end with IntegrityError when digest or length are not the server's.
   *
   * @example
   * ```ts
   * const download = await client.files.download(fileId);
   * const text = new TextDecoder().decode(await download.bytes());
   * ```
   */
  download(fileId: string, options?: DownloadOptions): Promise<Download>;
  /** Renames or moves. `ifMatch` takes the entity tag that the file must still have. */
  update(
    fileId: string,
    changes: FileChanges,
    options?: CallOptions & { readonly ifMatch?: string | undefined },
  ): Promise<File>;
  /** To the trash; with `permanent` for good, which answers null. */
  delete(fileId: string, options?: CallOptions & { readonly permanent?: boolean | undefined }): Promise<File | null>;
  restore(fileId: string, changes?: { readonly name?: string }, options?: CallOptions): Promise<File>;
}

/** Upload and download are loaded when they are first used: the core stays small in a browser. */
export function fileResource(connection: Connection): FileResource {
  const { list, get, update, restore } = api.files;
  const named = async (files: readonly File[]): Promise<File[]> =>
    connection.sharedVaults === null ? [...files] : (await import("./vaults/listing.ts")).nameFiles(connection, files);
  const one = async (file: File): Promise<File> => (await named([file]))[0] ?? file;
  return {
    list: (query = {}, options) =>
      new PagePromise(
        "files",
        async (cursor) => {
          const wanted = await toKnownNames(connection, withCursor(query, cursor), query.folderId, options);
          if (wanted === null) return { files: [], nextCursor: null };
          const page = await callOn(connection, list, { query: wanted }, options);
          return { ...page, files: await named(page.files) };
        },
        query.cursor,
      ),
    get: async (fileId, options) => one((await callOn(connection, get, { params: { fileId } }, options)).file),
    upload: async (input, options) => (await import("./upload/send-file.ts")).uploadFile(connection, input, options),
    replace: async (fileId, input, options) =>
      (await import("./upload/send-file.ts")).replaceFile(connection, fileId, input, options),
    download: async (fileId, options) =>
      (await import("./download/open-file.ts")).openFileDownload(connection, fileId, options),
    update: async (fileId, changes, { ifMatch, ...options } = {}) => {
      const shared = await (
        await sharedChanges(connection)
      )?.updateFile(connection, fileId, changes, { ifMatch, ...options });
      if (shared != null) return shared;
      const headers = ifMatch === undefined ? {} : { "if-match": ifMatch };
      return (await callOn(connection, update, { params: { fileId }, headers, body: definedOnly(changes) }, options))
        .file;
    },
    delete: async (fileId, { permanent, ...options } = {}) => {
      const query = permanent === undefined ? {} : { permanent };
      return (await callOn(connection, api.files.delete, { params: { fileId }, query }, options))?.file ?? null;
    },
    restore: async (fileId, body = {}, options) => {
      const shared = await (await sharedChanges(connection))?.restoreFile(connection, fileId, body.name, options);
      if (shared != null) return shared;
      const params = { fileId };
      const { file } = await settleRepeat(callOn(connection, restore, { params, body }, options), "not_trashed", () =>
        callOn(connection, get, { params }, options).then((now) => (isRestored(now.file, body.name) ? now : null)),
      );
      return file;
    },
  };
}

function definedOnly({ name, folderId }: FileChanges): { name?: string; folderId?: string | null } {
  return { ...(name === undefined ? {} : { name }), ...(folderId === undefined ? {} : { folderId }) };
}

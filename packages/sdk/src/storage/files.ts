/** Files. Names in shared vaults are decrypted, and encrypted, on the way. What moves bytes is in `transfer/`. */
import { fileEntriesGroup, filesGroup, type api } from "@coffer/contract";
import type {
  CallOptions,
  ConditionedItem,
  Connection,
  FileDeletion,
  PlaceOptions,
  UpdateOptions,
} from "../connection/options.ts";
import { sharedCode } from "../connection/shared-code.ts";
import { callOn } from "../http/call.ts";
import type { Body, ListQuery } from "../http/endpoint-types.ts";
import { paged, type PagePromise } from "../http/pages.ts";
import type { ItemOutcome } from "../http/part-error.ts";
import { MOVE, refuseUndefinedPlaces } from "../http/required-fields.ts";
import type { FileSearchQuery } from "../search/search-types.ts";
import { searchAtService } from "../search/service-search.ts";
import type { DownloadOptions } from "../transfer/content-headers.ts";
import type { CommittedFile, FileCommitChange, FileCommitOptions } from "../transfer/commit-changes.ts";
import type { Download } from "../transfer/stored-download.ts";
import type { ReplaceInput, UploadInput, UploadManyOptions, UploadOptions } from "../transfer/upload-options.ts";
import type { UploadOutcome, UploadResult } from "../transfer/upload-codec.ts";
import { verifiedEntries } from "./entries.ts";
import { ItemCalls } from "./item-calls.ts";
import type { File, FileEntry, FileVersion } from "./item-types.ts";
import { FILES, ifMatchHeader, withoutClaims } from "./items.ts";
import { moveMany, restoreMany, trashMany } from "./many-items.ts";
import { indexQuery, listingOptions } from "./name-query.ts";
import { withOwnerProof } from "./owner-proof.ts";
import { deleteVersion, listVersions, restoreVersion } from "./versions.ts";

/** Input of `files.list`. */
export interface FileListQuery extends Omit<ListQuery<typeof api.files.list>, "nameIndex"> {}

/** Input of `files.restore`. */
export interface FileRestoreInput extends Omit<Body<typeof api.files.restore>, "shared"> {}

/** Input of `files.versions`. */
export interface FileVersionsQuery extends ListQuery<typeof api.files.versions> {}

/** Input of `files.entries`. */
export interface FileEntriesQuery extends ListQuery<typeof api.files.entries> {}

/** Changes of a file's place. `folderId: null`: to the top of the vault. `undefined` is refused, as in {@link UploadInput}. */
export interface FileChanges {
  /** New name: at most 255 bytes of UTF-8. Default: unchanged. */
  readonly name?: string | undefined;
  /** UUID of the folder to move to. null: the top of the vault. Default: unchanged. */
  readonly folderId?: string | null;
}

/** What a page of a search has beside its rows. */
export interface SearchFacts {
  /** false: the page ended at the most rows that the service looks at for one page. `nextCursor` goes on from there. */
  readonly complete: boolean;
}

export interface FileResource {
  /** Lists files, newest first. `folderId: "root"` lists those at the top; `name` finds the exact name. */
  list(query?: FileListQuery, options?: CallOptions): PagePromise<"files", File>;
  /**
   * Finds files by words of their names, type, size, date, author and place, in public vaults and vaults with plain
   * names. Case and accents do not matter, and a word is found inside of words. Whole words come first, then beginnings
   * of words, then the rest; the newest first in each. A page with `complete: false` was ended early: go on with its
   * `nextCursor`. Iterating goes on by itself. Names that only members can read are not looked at: `client.search` does.
   *
   * @example
   * ```ts
   * for await (const file of client.files.search({ q: "resume", type: "application/pdf" })) console.log(file.name);
   * ```
   */
  search(query?: FileSearchQuery, options?: CallOptions): PagePromise<"files", File, SearchFacts>;
  /** Reads one file's metadata. */
  get(fileId: string, options?: CallOptions): Promise<File>;
  /**
   * Stores bytes as a new file: in one request up to 8 MiB, above in resumable parts. The SDK computes
   * the digest and compares it with the server's. An abort frees the space that the server holds for it.
   * @throws ContractError `invalid_request` for a body that is no bytes or a place that is `undefined`, before
   * anything is sent.
   * @throws ApiError `name_exists` (with `ifAbsent` `precondition_failed`), `storage_quota`, `file_too_large`, …
   * @throws IntegrityError when the server holds other bytes.
   * @throws SdkError `source_changed`, `not_resumable`.
   *
   * @example
   * ```ts
   * const body = "hello"; // or a Uint8Array, a Blob, a stream; an object as JSON.stringify(object)
   * const { file, sha256 } = await client.files.upload({ vaultId, name: "hello.txt", contentType: "text/plain", body });
   * console.log(file.id, sha256);
   * ```
   */
  upload(input: UploadInput, options?: UploadOptions): Promise<UploadResult>;
  /**
   * Stores many new files, the small ones up to 100 in a request. Each has its own outcome, in the order of the inputs:
   * one that fails stops no other.
   *
   * @example
   * ```ts
   * const outcomes = await client.files.uploadMany(["a.txt", "b.txt"].map((name) => ({ vaultId, name, body })));
   * const failed = outcomes.filter(({ error }) => error !== null);
   * ```
   */
  uploadMany(inputs: Iterable<UploadInput>, options?: UploadManyOptions): Promise<UploadOutcome[]>;
  /**
   * Stores bytes as the file's new version. It fails like `upload`, and with `precondition_failed` when `ifMatch` names
   * another state. In a shared vault it also fails so when somebody else was faster.
   */
  replace(fileId: string, input: ReplaceInput, options?: UploadOptions): Promise<UploadResult>;
  /**
   * Opens the content. A whole read fails at its end with IntegrityError when digest or length are not the server's.
   * @throws SdkError `shared_vault` if only encrypted bytes are available, unless `ciphertext` asks for those.
   * @throws VaultError, ApiError.
   *
   * @example
   * ```ts
   * const download = await client.files.download(fileId);
   * const text = new TextDecoder().decode(await download.bytes());
   * ```
   */
  download(fileId: string, options?: DownloadOptions): Promise<Download>;
  /**
   * What the file was, newest first; the first is its current content. Every replaced content stays for 30 days, or as
   * long as the vault's `keepVersionsDays` says. Its bytes count. `download` opens one by its `versionId`. In a shared
   * vault members signed each: number, type, size and author are verified, and `how` and `createdAt` are the service's
   * word. `unreadable` marks a version that does not verify.
   *
   * @example
   * ```ts
   * const { versions } = await client.files.versions(fileId);
   * const before = versions[1];
   * if (before !== undefined) await client.files.restoreVersion(fileId, before.versionId);
   * ```
   */
  versions(fileId: string, query?: FileVersionsQuery, options?: CallOptions): PagePromise<"versions", FileVersion>;
  /**
   * Makes a kept version's content the newest version again. If the file has that content already, nothing changes. In
   * a shared vault this client reads the content, encrypts it under new keys and signs it. The file's name stays.
   * @throws ApiError `not_found` for a version that is gone, `trashed`.
   * @throws VaultError `damaged`, `rolled_back`, … for a version that does not verify.
   */
  restoreVersion(fileId: string, versionId: string, options?: UpdateOptions): Promise<File>;
  /**
   * Deletes a kept version for good. Only an owner may. Its bytes leave the server's disk 24 hours later.
   * @throws ApiError `current_version` for the file's content.
   */
  deleteVersion(fileId: string, versionId: string, options?: CallOptions): Promise<void>;
  /**
   * Names and places that the file had, newest first; the first is the current one. Each replaced one stays as long as versions of the vault.
   * In a shared vault members signed each: name, folder and author are verified, and `how` and `createdAt` are the service's word.
   * `unreadable` marks an entry that does not verify, such as one from before a rotation.
   */
  entries(fileId: string, query?: FileEntriesQuery, options?: CallOptions): PagePromise<"entries", FileEntry>;
  /** Renames or moves a file. */
  update(fileId: string, changes: FileChanges, options?: UpdateOptions): Promise<File>;
  /**
   * Moves a file to the trash for 30 days. With `permanent` it deletes the file for good and answers null: nobody reads it any more, and
   * its bytes leave the server's disk 24 hours later.
   */
  delete(fileId: string, options?: FileDeletion): Promise<File | null>;
  /** Brings a file back from the trash, to the top of the vault if its folder is gone. */
  restore(fileId: string, changes?: FileRestoreInput, options?: UpdateOptions): Promise<File>;
  /**
   * Moves files and folders to the trash, up to 500 in a request. Each has its own outcome, in the order of the ids: one that fails
   * stops no other. Name an item with its tag, as `{ id, ifMatch: file.tag }`, to act on what you have seen of it.
   *
   * @example
   * ```ts
   * const outcomes = await client.files.trashMany([fileId]);
   * const failed = outcomes.filter(({ error }) => error !== null);
   * ```
   */
  trashMany(items: Iterable<string | ConditionedItem>, options?: CallOptions): Promise<ItemOutcome[]>;
  /** Brings files and folders back from the trash; outcomes as of `trashMany`. What is not in the trash stays as it is. */
  restoreMany(items: Iterable<string | ConditionedItem>, options?: CallOptions): Promise<ItemOutcome[]>;
  /** Moves files and folders into a folder of their vault, or with null to its top; outcomes as of `trashMany`. */
  moveMany(
    items: Iterable<string | ConditionedItem>,
    folderId: string | null,
    options?: PlaceOptions,
  ): Promise<ItemOutcome[]>;
  /**
   * Makes up to 100 new versions, renames, moves and trashings in one vault, each under its own condition: all of them, or none. Contents are
   * sent first, at most 256 MiB together, and the service holds them until the commit. Names are compared at the end, so files may swap theirs.
   * In a shared vault each change is signed by itself; that it was all or nothing is the service's word. If the vault or the names of a folder
   * changed meanwhile, everything is signed and sent again, in at most three rounds. A failure frees what was held. If you name the commit
   * (`idempotencyKey`) and its answer was lost, what is held stays for a day, so that a repeat finds it.
   * @throws ContractError `invalid_request` for changes that contradict themselves or one another, before anything is sent.
   * @throws ApiError `precondition_failed` if a file is not as its `ifMatch` says: `itemId` names it, and `currentTag` is its present tag.
   * @throws ApiError `name_exists`, `trashed`, `different_vault`, `not_found`, `storage_quota`, `file_too_large`, …; `itemId` names the file.
   * @throws VaultError `generation_moved`, … after the third round.
   * @throws IntegrityError when the server holds other bytes.
   *
   * @example
   * ```ts
   * const { id, tag = "*" } = await client.files.get(fileId); // "*": as it is, whatever that is
   * const [report] = await client.files.commit(vaultId, [{ id, ifMatch: tag, body: "final", name: "report.txt" }]);
   * console.log(report?.file.tag);
   * ```
   */
  commit(vaultId: string, changes: Iterable<FileCommitChange>, options?: FileCommitOptions): Promise<CommittedFile[]>;
}

/** What moves bytes is loaded with the first transfer. */
const transfers = () => import("../transfer/transfers.ts");

export function fileResource(connection: Connection): FileResource {
  const items = new ItemCalls(connection, FILES);
  return {
    list: (firstQuery = {}, options) =>
      paged("files", firstQuery, async (query) => {
        const sent = await indexQuery(connection, query, query.folderId, options);
        if (sent === null) return { files: [], nextCursor: null };
        const page = await callOn(connection, filesGroup.list, { query: sent }, listingOptions(query, options));
        if (connection.sharedVaults === null) return { ...page, files: page.files.map(withoutClaims) };
        const { nameItems } = await sharedCode(connection);
        return { ...page, files: await nameItems(connection, FILES, page.files, query, options) };
      }),
    search: (query = {}, options) => paged("files", query, (page) => searchAtService(connection, page, options)),
    get: (fileId, options) => items.get(fileId, options),
    upload: async (input, options) => (await transfers()).uploadFile(connection, input, options),
    uploadMany: async (inputs, options) => (await transfers()).uploadMany(connection, inputs, options),
    replace: async (fileId, input, options) => (await transfers()).replaceFile(connection, fileId, input, options),
    download: async (fileId, options) => (await transfers()).openFileDownload(connection, fileId, options),
    versions: (fileId, query = {}, options) =>
      paged("versions", query, (page) => listVersions(connection, fileId, page, options)),
    restoreVersion: (fileId, versionId, options) => restoreVersion(connection, fileId, versionId, options),
    deleteVersion: (fileId, versionId, options) => deleteVersion(connection, fileId, versionId, options),
    entries: (fileId, firstQuery = {}, options) =>
      paged("entries", firstQuery, (query) =>
        verifiedEntries(connection, { kind: "file", id: fileId }, query, () =>
          callOn(connection, fileEntriesGroup.entries, { params: { fileId }, query }, options),
        ),
      ),
    update: async (fileId, changes, options) => {
      refuseUndefinedPlaces(filesGroup.update.id, changes, MOVE);
      return items.update(fileId, { name: changes.name, parentId: changes.folderId }, options);
    },
    delete: async (fileId, { permanent, ifMatch, ...options } = {}) => {
      const query = permanent === undefined ? {} : { permanent };
      const deleted = await withOwnerProof(
        connection,
        { act: "delete-file", fileId },
        (proof) => {
          const headers = { ...proof, ...ifMatchHeader(ifMatch) };
          return callOn(connection, filesGroup.delete, { params: { fileId }, query, headers }, options);
        },
        options,
      );
      return deleted === undefined ? null : items.named(deleted.file, options);
    },
    restore: (fileId, changes, options) => items.restore(fileId, changes, options),
    trashMany: (some, options) => trashMany(connection, some, options),
    restoreMany: (some, options) => restoreMany(connection, some, options),
    moveMany: (some, folderId, options) => moveMany(connection, some, folderId, options),
    commit: async (vaultId, changes, options) => (await transfers()).commitFiles(connection, vaultId, changes, options),
  };
}

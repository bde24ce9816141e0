import { realpath, type FileHandle } from "node:fs/promises";
import { basename } from "node:path";
import { connectionOf, type Client } from "../../client.ts";
import { ContractError } from "../../http/errors.ts";
import type { Connection } from "../../connection/options.ts";
import { type Fields, NEW_ITEM, refuseUndefinedPlaces, refuseUnknownFields } from "../../http/required-fields.ts";
import { upload, UPLOAD_OPTIONS } from "../../transfer/upload.ts";
import type { UploadResult, UploadTarget } from "../../transfer/upload-codec.ts";
import { guessContentType } from "./content-type.ts";
import { openFileSource, type FileSource } from "./file-source.ts";
import { fileStore } from "../store/file-store.ts";
import type { ProfileStore } from "../../store/profile-store.ts";
import { openUpload } from "../../transfer/upload-journal.ts";
import { WHOLE_BYTES, type UploadOptions } from "../../transfer/upload-options.ts";
import type { KeptUpload } from "../../transfer/journals.ts";

export interface UploadFileOptions extends UploadOptions {
  /**
   * The vault of the new file, as in `files.upload`. With `fileId`: the vault that the file is in, as in
   * `files.replace`. `undefined` is refused, here and below. Default: the account's default vault, or the folder's.
   */
  readonly vaultId?: string;
  /** The folder of the new file. Default: the top of the vault. */
  readonly folderId?: string;
  /** Default: the name of the file on this machine. */
  readonly name?: string | undefined;
  /**
   * Media type. Default: what a new file's name indicates (else `application/octet-stream`), and for a version that of
   * the one before.
   */
  readonly contentType?: string | undefined;
  /** Write a new version of this file. Default: a new file. */
  readonly fileId?: string;
  /** The `tag` that the replaced file must have, as in `files.replace`; with `fileId` only. Default: as there. */
  readonly ifMatch?: string | undefined;
  /** false: no version of the content before stays, as in `files.replace`; with `fileId` only. Default: true. */
  readonly keep?: boolean | undefined;
  /** Refuse the upload if the place has a file of that name. Default: false. */
  readonly ifAbsent?: boolean | undefined;
  /** Keeps uploads that are cut off. Default: `fileStore()`. */
  readonly store?: ProfileStore | undefined;
  /** The file, already opened by the caller (closed here); `path` then only names it. Default: `path` is opened. */
  readonly handle?: FileHandle | undefined;
}

const FIELDS: Fields<UploadFileOptions> = {
  ...UPLOAD_OPTIONS,
  vaultId: true,
  folderId: true,
  name: true,
  contentType: true,
  ifAbsent: true,
  fileId: true,
  ifMatch: true,
  keep: true,
  store: true,
  handle: true,
};

/**
 * Uploads a file of this machine. Above 8 MiB it is resumable: the next call with the same file and place goes on,
 * even after a crash. It fails with `source_changed` if the file changes meanwhile, and stores nothing then. Of a file that
 * something appends to, such as a log, it stores what there was when it was opened. An abort
 * ends the upload on the server and forgets it. The next call goes on if the reason is an error of the
 * name `PauseError`. Memory: about two parts of 16 MiB. Without a journal (a read-only system, no home directory) the upload survives lost connections, but no
 * other process can go on with it. Into a shared vault an upload goes on only with the same bytes. Otherwise it gives
 * up the version that was begun, and begins a new one with a new key.
 *
 * @example
 * ```ts
 * const { file, bytes, sha256 } = await uploadFile(client, "report.pdf", { vaultId }); // file.contentType: application/pdf
 * await uploadFile(client, "report.pdf", { fileId: file.id }); // its next version
 * ```
 */
export async function uploadFile(client: Client, path: string, options: UploadFileOptions = {}): Promise<UploadResult> {
  const connection = connectionOf(client);
  const target = await requireTarget(path, options);
  const source = await openFileSource(path, options.handle);
  const isWhole = source.size <= (options.partBytes ?? WHOLE_BYTES);
  const journal = isWhole ? null : await openUploadJournal(connection, path, target, source, options);
  return upload(connection, target, source, { ...options, journal });
}

/** Closes the caller's handle when it refuses, as every end of an upload does. */
export async function requireTarget(path: string, options: UploadFileOptions): Promise<UploadTarget> {
  try {
    refuseUnknownFields("uploadFile", options, FIELDS);
    refuseUndefinedPlaces("uploadFile", options, { ...NEW_ITEM, fileId: "for a new file" });
    return await targetOf(path, options);
  } catch (error) {
    await options.handle?.close();
    throw error;
  }
}

/** The journal, or null when there can be none or another process works on the same upload. Closes the source when it fails. */
async function openUploadJournal(
  connection: Connection,
  path: string,
  target: UploadTarget,
  source: FileSource,
  { store = fileStore(), idempotencyKey }: UploadFileOptions,
): Promise<KeptUpload | null> {
  try {
    // One member's upload, begun and signed, is not another's to go on with.
    const signer = connection.sharedVaults?.signer.chainAddress;
    const purpose = JSON.stringify({ baseUrl: connection.baseUrl, signer, path: await realpath(path), target });
    return await openUpload(store, { purpose }, source.identity, idempotencyKey);
  } catch (error) {
    await source.close();
    throw error;
  }
}

async function targetOf(path: string, options: UploadFileOptions): Promise<UploadTarget> {
  const { fileId, ifMatch, vaultId, folderId, ifAbsent, keep } = options;
  if (fileId !== undefined)
    return { kind: "version", fileId, vaultId, contentType: options.contentType, ifMatch, keep };
  if (keep !== undefined) throw new ContractError("request", "uploadFile", ["keep: goes with fileId"]);
  const name = options.name ?? basename(path);
  const contentType = options.contentType ?? guessContentType(name);
  return { kind: "file", name, vaultId, folderId, contentType, ifAbsent };
}

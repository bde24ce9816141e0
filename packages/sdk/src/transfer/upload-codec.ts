import { filesGroup, type SharedFile } from "@coffer/contract";
import type { ByteBody } from "../http/byte-body.ts";
import { callOn } from "../http/call.ts";
import { toBase64 } from "./digest.ts";
import { IntegrityError, type SdkError } from "../http/errors.ts";
import type { File } from "../storage/file.ts";
import { tagged } from "../http/tag.ts";
import type { File as NamedFile } from "../connection/result-types.ts";
import type { Connection, CallOptions } from "../connection/options.ts";

/** Result of an upload. `sha256` and `bytes` were counted here. In a public vault they equal the server's. */
export interface UploadResult {
  /** The file as it is now. */
  readonly file: NamedFile;
  /** Bytes of the content. */
  readonly bytes: number;
  /** SHA-256 of the content: 64 lower-case hex digits. */
  readonly sha256: string;
}

/** What became of one upload of several. One of both is null. */
export interface UploadOutcome {
  /** The stored file with its receipt. null: the upload failed. */
  readonly result: UploadResult | null;
  /** Why it failed. null: it did not. */
  readonly error: SdkError | null;
}

/** The bytes become a new file. */
export interface NewFileTarget {
  readonly kind: "file";
  /** null: in a shared vault, where the name is in its entry. */
  readonly name: string | null;
  readonly vaultId?: string | undefined;
  readonly folderId?: string | undefined;
  readonly contentType?: string | undefined;
  readonly ifAbsent?: boolean | undefined;
  readonly shared?: SharedFile | undefined;
}

/** What a shared vault's file brings besides its bytes. `restores`: the kept version whose content it is. */
export interface SentShared extends SharedFile {
  readonly restores?: string | undefined;
}

/** What the bytes become: a new file or a version of one. */
export type Target =
  | NewFileTarget
  | {
      readonly kind: "version";
      readonly fileId: string;
      /** The vault that the caller names for the file. */
      readonly vaultId?: string | undefined;
      readonly contentType?: string | undefined;
      readonly ifMatch?: string | undefined;
      /** false: the content before is given up. */
      readonly keep?: boolean | undefined;
      readonly shared?: SentShared | undefined;
    };

/** One raw request with these bytes, for a new file or a version. */
export async function store(
  connection: Connection,
  target: Target,
  body: ByteBody,
  digest: { readonly "repr-digest"?: string },
  options: CallOptions,
): Promise<File> {
  const type = {
    ...(target.contentType === undefined ? {} : { "content-type": target.contentType }),
    ...sharedHeaders(target.shared),
  };
  if (target.kind === "version") {
    const headers = { ...type, ...digest, ...(target.ifMatch === undefined ? {} : { "if-match": target.ifMatch }) };
    const { fileId, keep } = target;
    const input = { params: { fileId }, query: keep === undefined ? {} : { keep }, headers, body };
    return (await callOn(connection, filesGroup.replace, input, options)).file;
  }
  const { vaultId, folderId, name, ifAbsent } = target;
  const query = {
    ...(name === null ? {} : { name }),
    ...(vaultId === undefined ? {} : { vaultId }),
    ...(folderId === undefined ? {} : { folderId }),
  };
  const headers = { ...type, ...digest, ...(ifAbsent === true ? ({ "if-none-match": "*" } as const) : {}) };
  return (await callOn(connection, filesGroup.upload, { query, headers, body }, options)).file;
}

function sharedHeaders(shared: SentShared | undefined) {
  if (shared === undefined) return {};
  return {
    "coffer-version": shared.version,
    "coffer-entry": shared.entry,
    "coffer-metadata": shared.metadata,
    "coffer-name-index": shared.nameIndex,
    ...(shared.restores === undefined ? {} : { "coffer-restores": shared.restores }),
  };
}

/** One raw request with bytes whose digest is known. */
export async function storeWhole(
  connection: Connection,
  target: Target,
  { bytes, digest }: { readonly bytes: Uint8Array; readonly digest: Uint8Array },
  options: CallOptions,
): Promise<File> {
  return store(connection, target, bytes, { "repr-digest": `sha-256=:${toBase64(digest)}:` }, options);
}

/** Compares the server's record with the sent bytes. */
export function verified(file: File, bytes: number, sha256: string): UploadResult {
  if (file.size !== bytes || file.sha256 !== sha256) {
    throw new IntegrityError(
      `The server holds other bytes than were sent: file ${file.id} has ${String(file.size)} of ${String(bytes)} bytes or another digest`,
    );
  }
  return { file: tagged(file), bytes, sha256 };
}

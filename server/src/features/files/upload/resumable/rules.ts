/** What holds for resumable uploads, without any I/O. */
import { HEADERS, TUS_VERSION } from "@coffer/contract";
import type { UploadRow } from "../../../../ports/tables.ts";
import { ServiceError } from "../../../../service-error.ts";
import { parseSignedUpload, type SentUpload, type SignedUpload } from "../signed-upload.ts";
import { KEPT_AFTER_EXPIRY_MS } from "../../../holds/rules.ts";
import { renderMetadata } from "./metadata.ts";

/** When the upload is over: its row goes later. */
export function expiryOf(upload: Pick<UploadRow, "expires_at">): number {
  return upload.expires_at - KEPT_AFTER_EXPIRY_MS;
}

/** Its bytes are all there and change no more: they have made their file, or wait for the commit that makes the version of them. */
export function isWhole(upload: Pick<UploadRow, "finished_file_id" | "held_sha256">): boolean {
  return upload.finished_file_id !== null || upload.held_sha256 !== null;
}

const VERSION_HEADER = { "Tus-Resumable": TUS_VERSION };

/**
 * Holds a request to the protocol's version and puts `Tus-Resumable` on errors too; answers carry it through
 * {@link uploadHeaders}. Throws `unsupported_tus_version` with the version that is spoken.
 */
export async function speakTus<Result>(version: string | undefined, work: () => Promise<Result>): Promise<Result> {
  if (version !== TUS_VERSION) {
    throw new ServiceError("unsupported_tus_version", undefined, {
      headers: { ...VERSION_HEADER, "Tus-Version": TUS_VERSION },
    });
  }
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new ServiceError(error.code, error.message, {
      headers: { ...error.headers, ...VERSION_HEADER },
      cause: error.cause,
    });
  }
}

export interface Progress {
  /** Durable bytes. */
  readonly offset: number;
  /** Set once the upload has made its file, or a commit has made the version of what it held. */
  readonly fileId: string | null;
}

/** What every answer about an upload says. */
export function uploadHeaders(upload: UploadRow, { offset, fileId }: Progress): Record<string, string> {
  return {
    ...VERSION_HEADER,
    "Upload-Offset": String(offset),
    "Upload-Expires": new Date(expiryOf(upload)).toUTCString(),
    ...(fileId === null ? {} : { [HEADERS.fileId]: fileId }),
  };
}

/** The answer to the creation, without the offset: a repeat gets the same. */
export function creationHeaders(upload: UploadRow): Record<string, string> {
  return {
    ...VERSION_HEADER,
    Location: locationOf(upload),
    "Upload-Expires": new Date(expiryOf(upload)).toUTCString(),
  };
}

export function locationOf(upload: Pick<UploadRow, "id">): string {
  return `/api/uploads/${upload.id}`;
}

/** What was sent with an upload to a shared vault; null for a public one. */
function sentWith(upload: Pick<UploadRow, "shared_json">): SentUpload | null {
  return upload.shared_json === null ? null : (JSON.parse(upload.shared_json) as SentUpload);
}

/** The statements that came with the upload; null in a public vault. */
export function readSigned(upload: Pick<UploadRow, "shared_json">): SignedUpload | null {
  const sent = sentWith(upload);
  return sent === null ? null : parseSignedUpload(sent);
}

/** Where names are encrypted, an upload's is an index. */
export function isNameHidden(upload: UploadRow): boolean {
  return sentWith(upload)?.nameIndex === upload.name;
}

/** The answer to HEAD. Never cached: the offset moves (tus 1.0.0, "HEAD"). */
export function statusHeaders(upload: UploadRow, progress: Progress): Record<string, string> {
  const filename = isNameHidden(upload) ? null : upload.name;
  const place =
    upload.file_id === null
      ? { filename, vaultId: upload.vault_id, folderId: upload.folder_id }
      : { fileId: upload.file_id, held: upload.held === 1 ? "true" : null };
  return {
    ...uploadHeaders(upload, progress),
    "Upload-Length": String(upload.length),
    "Upload-Metadata": renderMetadata({ ...place, filetype: filename === null ? null : upload.content_type }),
    "Cache-Control": "no-store",
  };
}

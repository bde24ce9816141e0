import type { ByteBody } from "../byte-body.ts";
import type { CallOptions } from "../call.ts";
import { createHasher, toHex } from "../digest.ts";
import { ContractError } from "../errors.ts";
import type { Connection } from "../options.ts";
import { uploadInParts } from "./resumable.ts";
import { sourceChanged, type Source } from "./source.ts";
import { uploadStream } from "./stream.ts";
import { storeWhole, verified, type Target, type UploadResult } from "./target.ts";
import type { Checkpoint } from "./upload-session.ts";

export type { Target, UploadResult } from "./target.ts";

/** Default size of a part, and the largest upload that goes in one request: 8 MiB. Memory is bounded by it. */
export const PART_BYTES = 8 * 1024 * 1024;

interface Content {
  /** The bytes; a string stands for its UTF-8. Anything else is refused with `invalid_request` before anything is sent. */
  readonly body: ByteBody;
  /** Of a stream, in bytes: needed above 8 MiB to resume after a failure. What knows its own size goes by that. */
  readonly size?: number | undefined;
  readonly contentType?: string | undefined;
}

export interface UploadInput extends Content {
  /**
   * Absent: the folder's; without a folder the account's default vault, which is public, and for clients with `sharedVaults` none at all
   * (`vault_required`). `undefined` is refused: it may be what a forgotten `await` has made of it.
   */
  readonly vaultId?: string;
  /** Absent: the top of the vault. */
  readonly folderId?: string;
  readonly name: string;
  /** Fail with `precondition_failed` when the name is taken (`If-None-Match: *`). */
  readonly ifAbsent?: boolean | undefined;
}

export interface ReplaceInput extends Content {
  /**
   * The vault that the file is in. Clients with `sharedVaults` send nothing where the service shows it in another one (`vault_changed`), and need
   * it for a file that this machine has not seen (`vault_required`).
   */
  readonly vaultId?: string;
  /** Entity tag of the version to replace: `"sha256-<base64url>"`. */
  readonly ifMatch?: string | undefined;
}

/** Bytes on their way. `bytes` goes back when a part must be sent again. */
export interface Progress {
  readonly bytes: number;
  /** null: not known before the end. */
  readonly total: number | null;
}

export interface UploadOptions {
  readonly signal?: AbortSignal | undefined;
  /** Names the creation; see {@link CallOptions.idempotencyKey}. */
  readonly idempotencyKey?: string | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Repeats of a request that moved nothing. */
  readonly retries?: number | undefined;
  /** In a shared vault: hide the size of the content, which then takes up to 12 % more; default false. */
  readonly padded?: boolean | undefined;
  /** Size of a part in bytes, 8 MiB by default: the memory an upload takes. */
  readonly partBytes?: number | undefined;
}

/** Sends a source by its size: whole, in parts, or as one stream when nobody knows the size. Closes the source. */
export async function uploadSource(
  connection: Connection,
  target: Target,
  source: Source,
  options: UploadOptions,
  checkpoint?: Checkpoint,
): Promise<UploadResult> {
  const partBytes = options.partBytes ?? PART_BYTES;
  if (!Number.isInteger(partBytes) || partBytes < 1)
    throw new ContractError("request", "files.upload", ["partBytes: expected a whole number above 0"]);
  try {
    if (source.size !== null && source.size > partBytes)
      return await uploadInParts(connection, target, source, { ...options, partBytes }, checkpoint);
    const head = new Uint8Array(source.size === null ? partBytes : source.size + 1);
    const filled = await source.read(0, head);
    if (source.size !== null && filled !== source.size)
      throw sourceChanged(`The source has not the ${String(source.size)} bytes that were said`);
    if (source.size === null && filled === head.length)
      return await uploadStream(connection, target, head, source, options);
    return await uploadWhole(connection, target, head.subarray(0, filled), options);
  } finally {
    await source.close();
  }
}

async function uploadWhole(
  connection: Connection,
  target: Target,
  bytes: Uint8Array,
  options: UploadOptions,
): Promise<UploadResult> {
  const hasher = await createHasher();
  hasher.update(bytes);
  const digest = hasher.digest();
  const total = bytes.length;
  const { signal, idempotencyKey, retries, onProgress } = options;
  // The transport's pull tells what was sent; `onSent` starts at 0 with every attempt, so progress rolls back by itself.
  const sending: CallOptions = {
    signal,
    idempotencyKey,
    retries,
    onSent: (sent) => onProgress?.({ bytes: sent, total }),
  };
  const file = await storeWhole(connection, target, { bytes, digest }, sending);
  onProgress?.({ bytes: total, total });
  return verified(file, total, toHex(digest));
}

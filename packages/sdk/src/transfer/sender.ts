/** Sends the bytes of one attempt, by their size: in a batch, in one request, in parts, or as a stream of unknown size. */
import type { Connection } from "../connection/options.ts";
import type { File } from "../storage/file.ts";
import type { BatchSlot } from "./batch.ts";
import { digestOf, toHex } from "./digest.ts";
import type { Checkpoint } from "./journals.ts";
import { sendParts } from "./resumable-sender.ts";
import { otherSize } from "./source.ts";
import { requestStore, requireSameBytes } from "./store-request.ts";
import { sendStream } from "./stream-sender.ts";
import type { EncodedUpload } from "./upload-codec.ts";
import { MAX_BATCHED_BYTES, PART_BYTES, WHOLE_BYTES, type UploadOptions } from "./upload-options.ts";

export interface SendOptions extends UploadOptions {
  /** The place of a new file among others. What is too large for a batch gives it back. */
  readonly batch?: BatchSlot | undefined;
  /** Keeps the session of an upload in parts over a crash. */
  readonly journal?: Checkpoint | null | undefined;
}

/** Resolves when the server holds exactly these bytes. */
export async function sendUpload(connection: Connection, upload: EncodedUpload, options: SendOptions): Promise<File> {
  const { bytes, target } = upload;
  const { size } = bytes;
  if (size === null || size > MAX_BATCHED_BYTES || target.kind === "version") options.batch?.leave();
  const wholeBytes = options.partBytes ?? WHOLE_BYTES;
  if (size !== null && size > wholeBytes) {
    const partBytes = options.partBytes ?? PART_BYTES;
    return sendParts(connection, upload, { ...options, size, partBytes });
  }
  const head = new Uint8Array(size === null ? wholeBytes : size + 1);
  const filled = await bytes.read(0, head);
  if (size !== null && filled !== size) throw otherSize(size);
  if (size === null && filled === head.length) return sendStream(connection, upload, head, options);
  return sendWhole(connection, upload, head.subarray(0, filled), options);
}

async function sendWhole(
  connection: Connection,
  { idempotencyKey, target }: EncodedUpload,
  bytes: Uint8Array,
  { batch, onProgress, retries, signal }: SendOptions,
): Promise<File> {
  const digest = await digestOf(bytes);
  const total = bytes.length;
  if (batch !== undefined && target.kind === "file" && total <= MAX_BATCHED_BYTES)
    return requireSameBytes(await batch.add(target, { bytes, digest }), total, toHex(digest));
  // The transport's pull shows what was sent; `onSent` starts at 0 with every attempt, so progress rolls back by
  // itself.
  const onSent = (sent: number): void => onProgress?.({ bytes: sent, total });
  const file = await requestStore(connection, target, bytes, digest, { signal, idempotencyKey, retries, onSent });
  onProgress?.({ bytes: total, total });
  return requireSameBytes(file, total, toHex(digest));
}

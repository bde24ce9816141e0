import { digestOf, toHex } from "./digest.ts";
import { ContractError } from "../http/errors.ts";
import type { Connection, CallOptions } from "../connection/options.ts";
import { uploadInParts } from "./resumable-sender.ts";
import { otherSize, type Source } from "./source.ts";
import { uploadStream } from "./stream-sender.ts";
import { storeWhole, verified, type Target, type UploadResult } from "./upload-codec.ts";
import type { Checkpoint } from "./journals.ts";
import type { BatchSlot } from "./batch.ts";
import { MAX_BATCHED_BYTES, PART_BYTES, WHOLE_BYTES, type UploadOptions } from "./upload-options.ts";

/** A new file that is small may go with others, if its sender has opened a place for it. */
export type SendingOptions = UploadOptions & { readonly batch?: BatchSlot | undefined };

/** Sends a source by its size: whole, in parts, or as one stream of unknown size. Closes the source. */
export async function uploadSource(
  connection: Connection,
  target: Target,
  source: Source,
  options: SendingOptions,
  checkpoint?: Checkpoint,
): Promise<UploadResult> {
  const { partBytes = PART_BYTES } = options;
  const wholeBytes = options.partBytes ?? WHOLE_BYTES;
  if (!Number.isInteger(partBytes) || partBytes < 1)
    throw new ContractError("request", "files.upload", ["partBytes: expected a whole number above 0"]);
  try {
    if (source.size === null || source.size > MAX_BATCHED_BYTES || target.kind === "version") options.batch?.leave();
    if (source.size !== null && source.size > wholeBytes)
      return await uploadInParts(connection, target, source, { ...options, partBytes }, checkpoint);
    const head = new Uint8Array(source.size === null ? wholeBytes : source.size + 1);
    const filled = await source.read(0, head);
    if (source.size !== null && filled !== source.size) throw otherSize(source.size);
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
  options: SendingOptions,
): Promise<UploadResult> {
  const digest = await digestOf(bytes);
  const total = bytes.length;
  const { batch, signal, idempotencyKey, retries, onProgress } = options;
  if (batch !== undefined && target.kind === "file" && total <= MAX_BATCHED_BYTES)
    return verified(await batch.add(target, { bytes, digest }), total, toHex(digest));
  // The transport's pull shows what was sent; `onSent` starts at 0 with every attempt, so progress rolls back by
  // itself.
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

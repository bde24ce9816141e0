/** A stream of unknown size that is longer than one request's bytes. */
import type { Connection } from "../connection/options.ts";
import { ContractError } from "../http/errors.ts";
import { canStreamRequests } from "../http/runtime.ts";
import type { File } from "../storage/file.ts";
import { createHasher, toHex } from "./digest.ts";
import { requestStore, requireSameBytes } from "./store-request.ts";
import type { EncodedUpload } from "./upload-codec.ts";
import type { UploadOptions } from "./upload-options.ts";

const READ_BYTES = 64 * 1024;

/**
 * One request. It cannot be repeated: give `size` to get resumable parts. Browsers cannot send it at all. `head`: the
 * bytes that were read to learn that it is long.
 */
export async function sendStream(
  connection: Connection,
  { bytes, idempotencyKey, target }: EncodedUpload,
  head: Uint8Array,
  { onProgress, signal }: UploadOptions,
): Promise<File> {
  if (!canStreamRequests())
    throw new ContractError("request", "files.upload", ["size: needed for a stream above one part in this runtime"]);
  const hasher = await createHasher();
  let total = 0;
  async function* chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    for (let offset = 0; offset < head.length; offset += READ_BYTES)
      yield count(head.subarray(offset, offset + READ_BYTES));
    for (;;) {
      const chunk = new Uint8Array(READ_BYTES);
      const filled = await bytes.read(total, chunk);
      if (filled > 0) yield count(chunk.subarray(0, filled));
      if (filled < chunk.length) return;
    }
  }
  function count(chunk: Uint8Array): Uint8Array {
    hasher.update(chunk);
    total += chunk.length;
    return chunk;
  }
  const onSent = (sent: number): void => onProgress?.({ bytes: sent, total: null });
  const file = await requestStore(connection, target, chunks(), null, { signal, idempotencyKey, onSent });
  onProgress?.({ bytes: total, total });
  return requireSameBytes(file, total, toHex(hasher.digest()));
}

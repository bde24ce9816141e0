import { canStreamRequests } from "../http/runtime.ts";
import { createHasher, toHex } from "./digest.ts";
import { ContractError } from "../http/errors.ts";
import type { Connection } from "../connection/options.ts";
import type { Source } from "./source.ts";
import { store, verified, type Target, type UploadResult } from "./upload-codec.ts";
import type { UploadOptions } from "./upload-options.ts";

const READ_BYTES = 64 * 1024;

/**
 * One request with a stream of unknown size that is longer than a part. It cannot be repeated: give `size` to get
 * resumable parts. Browsers cannot send it at all.
 */
export async function uploadStream(
  connection: Connection,
  target: Target,
  head: Uint8Array,
  source: Source,
  options: UploadOptions,
): Promise<UploadResult> {
  if (!canStreamRequests())
    throw new ContractError("request", "files.upload", ["size: needed for a stream above one part in this runtime"]);
  const hasher = await createHasher();
  let total = 0;
  async function* chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    for (let offset = 0; offset < head.length; offset += READ_BYTES)
      yield count(head.subarray(offset, offset + READ_BYTES));
    for (;;) {
      const chunk = new Uint8Array(READ_BYTES);
      const filled = await source.read(total, chunk);
      if (filled > 0) yield count(chunk.subarray(0, filled));
      if (filled < chunk.length) return;
    }
  }
  function count(chunk: Uint8Array): Uint8Array {
    hasher.update(chunk);
    total += chunk.length;
    return chunk;
  }
  const { signal, idempotencyKey, onProgress } = options;
  const file = await store(
    connection,
    target,
    chunks(),
    {},
    { signal, idempotencyKey, onSent: (bytes) => onProgress?.({ bytes, total: null }) },
  );
  onProgress?.({ bytes: total, total });
  return verified(file, total, toHex(hasher.digest()));
}

/** Blobs in memory, for tests and trials: nothing survives the process. Held by test/suites/blob-store.ts. */
import { createHash } from "node:crypto";
import type { BlobKey, BlobReceipt, BlobStore, StoredBlob } from "../../ports/blob-store.ts";
import { type Clock, systemClock } from "../../ports/clock.ts";
import { assertKey } from "./disk/layout.ts";

interface Item {
  readonly bytes: Buffer;
  readonly modifiedAt: number;
}

export function openMemoryBlobs(options: { clock?: Clock } = {}): BlobStore {
  const clock = options.clock ?? systemClock;
  const blobs = new Map<BlobKey, Item>();
  const partials = new Map<BlobKey, Item>();
  const busy = new Set<BlobKey>();
  const item = (bytes: Buffer): Item => ({ bytes, modifiedAt: clock.now() });
  const put = (key: BlobKey, bytes: Buffer): BlobReceipt => {
    if (blobs.has(key)) throw new Error("The key is taken");
    blobs.set(key, item(bytes));
    return receiptOf(bytes);
  };
  return {
    capabilities: { partBytes: 1, exclusive: true, openedAt: clock.now() },
    async put(key, source) {
      assertKey(key);
      if (blobs.has(key) || busy.has(key)) throw new Error("The key is taken");
      busy.add(key);
      try {
        const { chunks, failure } = await collect(source);
        if (failure !== null) throw failure.error;
        return put(key, Buffer.concat(chunks));
      } finally {
        busy.delete(key);
      }
    },
    async open(key, range) {
      assertKey(key);
      const found = blobs.get(key);
      if (found === undefined) return null;
      const offset = range?.offset ?? 0;
      return inChunks(found.bytes.subarray(offset, range === undefined ? undefined : offset + range.length));
    },
    async delete(key) {
      assertKey(key);
      blobs.delete(key);
    },
    async begin(key) {
      assertKey(key);
      if (partials.has(key) || blobs.has(key)) throw new Error("The key is taken");
      partials.set(key, item(Buffer.alloc(0)));
    },
    async append(key, offset, source, { atomic = false } = {}) {
      assertKey(key);
      const before = partials.get(key)?.bytes;
      if (before === undefined) throw new RangeError("There is no such partial blob");
      if (busy.has(key)) throw new RangeError("The partial blob is being changed by somebody else");
      if (offset !== before.length) throw new RangeError(`The partial blob has ${before.length} bytes, not ${offset}`);
      busy.add(key);
      try {
        const { chunks, failure } = await collect(source);
        if (failure !== null && atomic) throw failure.error;
        const after = Buffer.concat([before, ...chunks]);
        partials.set(key, item(after));
        if (failure !== null) throw failure.error;
        return after.length;
      } finally {
        busy.delete(key);
      }
    },
    async partialLength(key) {
      assertKey(key);
      return partials.get(key)?.bytes.length ?? null;
    },
    async complete(key) {
      assertKey(key);
      const partial = partials.get(key);
      if (partial !== undefined) {
        const receipt = put(key, partial.bytes);
        partials.delete(key);
        return receipt;
      }
      const blob = blobs.get(key);
      if (blob === undefined) throw new RangeError("There is no such partial blob");
      return receiptOf(blob.bytes);
    },
    async discard(key) {
      assertKey(key);
      if (busy.has(key)) throw new RangeError("The partial blob is being changed by somebody else");
      partials.delete(key);
    },
    async *list() {
      yield* [...describe(blobs, true), ...describe(partials, false)];
    },
    async ping() {},
    async [Symbol.asyncDispose]() {},
  };
}

function receiptOf(bytes: Buffer): BlobReceipt {
  return { size: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
}

function describe(items: ReadonlyMap<BlobKey, Item>, complete: boolean): StoredBlob[] {
  return [...items].map(([key, { bytes, modifiedAt }]) => ({ key, size: bytes.length, modifiedAt, complete }));
}

/** Everything that arrived, and the source's failure if it had one. */
async function collect(source: AsyncIterable<Uint8Array>): Promise<{ chunks: Buffer[]; failure: { error: unknown } | null }> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of source) chunks.push(Buffer.from(chunk));
    return { chunks, failure: null };
  } catch (error) {
    return { chunks, failure: { error } };
  }
}

async function* inChunks(bytes: Buffer): AsyncGenerator<Uint8Array> {
  const size = 256 * 1024;
  for (let offset = 0; offset < bytes.length; offset += size) yield bytes.subarray(offset, offset + size);
}

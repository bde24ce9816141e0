/** Blobs in memory, for tests and trials: nothing survives the process. Held by test/suites/blob-store.ts. */
import { createHash } from "node:crypto";
import type {
  BlobKey,
  BlobRange,
  BlobReceipt,
  BlobStore,
  BlobStoreCapabilities,
  SmallBlob,
  StoredBlob,
} from "../../ports/blob-store.ts";
import type { DiskRoom } from "../../ports/disk-room.ts";
import { type Clock, systemClock } from "../../ports/clock.ts";
import { assertKey } from "./keys.ts";
import { removeEach } from "./removing.ts";

export function openMemoryBlobs(options: { clock?: Clock } = {}): BlobStore {
  return new MemoryBlobStore(options.clock ?? systemClock);
}

interface Item {
  readonly bytes: Buffer;
  readonly modifiedAt: number;
}

class MemoryBlobStore implements BlobStore {
  readonly capabilities: BlobStoreCapabilities = { partBytes: 1, sharesClock: true };
  readonly #clock: Clock;
  readonly #blobs = new Map<BlobKey, Item>();
  readonly #partials = new Map<BlobKey, Item>();
  readonly #busy = new Set<BlobKey>();
  #mark: string | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async put(key: BlobKey, source: AsyncIterable<Uint8Array>): Promise<BlobReceipt> {
    assertKey(key);
    if (this.#blobs.has(key) || this.#busy.has(key)) throw new Error("The key is taken");
    return this.#whileBusy(key, async () => {
      const { bytes, failure } = await collect(source);
      if (failure !== null) throw failure.error;
      return this.#store(key, bytes);
    });
  }

  async putAll(blobs: readonly SmallBlob[]): Promise<BlobReceipt[]> {
    for (const { key } of blobs) {
      assertKey(key);
      if (this.#blobs.has(key) || this.#busy.has(key)) throw new Error("The key is taken");
    }
    return Promise.resolve(blobs.map(({ key, bytes }) => this.#store(key, Buffer.from(bytes))));
  }

  async open(key: BlobKey, range?: BlobRange): Promise<AsyncIterable<Uint8Array> | null> {
    assertKey(key);
    const found = this.#blobs.get(key);
    if (found === undefined) return Promise.resolve(null);
    const offset = range?.offset ?? 0;
    return inChunks(found.bytes.subarray(offset, range === undefined ? undefined : offset + range.length));
  }

  async delete(key: BlobKey): Promise<void> {
    assertKey(key);
    await Promise.resolve(this.#blobs.delete(key));
  }

  removeAll(keys: readonly BlobKey[]): Promise<ReadonlyMap<BlobKey, unknown>> {
    return removeEach(this, keys);
  }

  async start(key: BlobKey): Promise<void> {
    assertKey(key);
    if (this.#partials.has(key) || this.#blobs.has(key)) throw new Error("The key is taken");
    await Promise.resolve(this.#partials.set(key, this.#item(Buffer.alloc(0))));
  }

  async append(
    key: BlobKey,
    offset: number,
    source: AsyncIterable<Uint8Array>,
    options: { atomic?: boolean } = {},
  ): Promise<number> {
    assertKey(key);
    const before = this.#partials.get(key)?.bytes;
    if (before === undefined) throw new RangeError("There is no such partial blob");
    this.#assertIdle(key);
    if (offset !== before.length) throw new RangeError(`The partial blob has ${before.length} bytes, not ${offset}`);
    return this.#whileBusy(key, async () => {
      const { bytes, failure } = await collect(source);
      if (failure !== null && options.atomic === true) throw failure.error;
      const after = Buffer.concat([before, bytes]);
      this.#partials.set(key, this.#item(after));
      if (failure !== null) throw failure.error;
      return after.length;
    });
  }

  async takeOver(key: BlobKey, into: BlobKey): Promise<BlobKey> {
    const found = this.#partials.get(key);
    if (found === undefined) throw new RangeError("There is no such partial blob");
    await this.start(into);
    this.#partials.set(into, this.#item(found.bytes));
    return into;
  }

  async partialLength(key: BlobKey): Promise<number | null> {
    assertKey(key);
    return Promise.resolve(this.#partials.get(key)?.bytes.length ?? null);
  }

  async complete(key: BlobKey): Promise<BlobReceipt> {
    assertKey(key);
    this.#assertIdle(key);
    const partial = this.#partials.get(key);
    if (partial !== undefined) {
      const receipt = this.#store(key, partial.bytes);
      this.#partials.delete(key);
      return receipt;
    }
    const blob = this.#blobs.get(key);
    if (blob === undefined) throw new RangeError("There is no such partial blob");
    return Promise.resolve(receiptOf(blob.bytes));
  }

  async discard(key: BlobKey): Promise<void> {
    assertKey(key);
    this.#assertIdle(key);
    await Promise.resolve(this.#partials.delete(key));
  }

  readMark(): Promise<string | null> {
    return Promise.resolve(this.#mark);
  }

  replaceMark(before: string | null, mark: string): Promise<boolean> {
    const isSame = this.#mark === before;
    if (isSame) this.#mark = mark;
    return Promise.resolve(isSame);
  }

  async *list(): AsyncIterable<StoredBlob> {
    yield* await Promise.resolve([...describe(this.#blobs, true), ...describe(this.#partials, false)]);
  }

  ping(): Promise<void> {
    return Promise.resolve();
  }

  diskRoom(): Promise<DiskRoom | null> {
    return Promise.resolve(null);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }

  #item(bytes: Buffer): Item {
    return { bytes, modifiedAt: this.#clock.now() };
  }

  #store(key: BlobKey, bytes: Buffer): BlobReceipt {
    if (this.#blobs.has(key)) throw new Error("The key is taken");
    this.#blobs.set(key, this.#item(bytes));
    return receiptOf(bytes);
  }

  #assertIdle(key: BlobKey): void {
    if (this.#busy.has(key)) throw new RangeError("The partial blob is being changed by somebody else");
  }

  async #whileBusy<Result>(key: BlobKey, work: () => Promise<Result>): Promise<Result> {
    this.#busy.add(key);
    try {
      return await work();
    } finally {
      this.#busy.delete(key);
    }
  }
}

function receiptOf(bytes: Buffer): BlobReceipt {
  return { size: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
}

function describe(items: ReadonlyMap<BlobKey, Item>, complete: boolean): StoredBlob[] {
  return [...items].map(([key, { bytes, modifiedAt }]) => ({ key, size: bytes.length, modifiedAt, complete }));
}

/** Everything that arrived, and the source's failure if it had one. */
async function collect(
  source: AsyncIterable<Uint8Array>,
): Promise<{ bytes: Buffer; failure: { error: unknown } | null }> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of source) chunks.push(Buffer.from(chunk));
    return { bytes: Buffer.concat(chunks), failure: null };
  } catch (error) {
    return { bytes: Buffer.concat(chunks), failure: { error } };
  }
}

async function* inChunks(bytes: Buffer): AsyncGenerator<Uint8Array> {
  const size = 256 * 1024;
  for (let offset = 0; offset < bytes.length; offset += size)
    yield await Promise.resolve(bytes.subarray(offset, offset + size));
}

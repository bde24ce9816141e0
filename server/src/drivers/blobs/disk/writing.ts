/** Writing a stream to a file in large batches, hashed on the way. */
import { type BufferPool, LARGE, SMALL, sharedBuffer } from "./buffers.ts";
import type { OpenFile } from "./file-system.ts";
import type { RunningDigest } from "./hashing.ts";

/** Batches of one stream that are being written and hashed while the next is filled. */
const IN_FLIGHT = 2;

/**
 * Takes chunks in, writes them in batches. The bytes of a chunk are copied, so its owner may use it again at once.
 * After any rejection only {@link BatchWriter.settle} may be called.
 */
export class BatchWriter {
  readonly #file: OpenFile;
  readonly #digest: RunningDigest | null;
  readonly #pool: BufferPool;
  readonly #inFlight: Promise<void>[] = [];
  #batch: Uint8Array<ArrayBufferLike> | null = null;
  #filled = 0;
  #started = false;
  #position: number;
  #failure: { readonly error: unknown } | null = null;

  constructor(file: OpenFile, position: number, digest: RunningDigest | null, pool: BufferPool) {
    this.#file = file;
    this.#position = position;
    this.#digest = digest;
    this.#pool = pool;
  }

  /** Where the next batch goes: all before it has been handed to the file. */
  get position(): number {
    return this.#position;
  }

  async add(chunk: Uint8Array): Promise<void> {
    let taken = 0;
    while (taken < chunk.length) {
      const batch = await this.#roomy();
      const count = Math.min(chunk.length - taken, batch.length - this.#filled);
      batch.set(chunk.subarray(taken, taken + count), this.#filled);
      this.#filled += count;
      taken += count;
      if (this.#filled === LARGE) await this.#dispatch();
    }
  }

  /** Resolves when everything taken in has been written and hashed; not yet flushed. */
  async finish(): Promise<void> {
    if (this.#filled > 0) await this.#dispatch();
    await this.settle();
    if (this.#failure !== null) throw this.#failure.error;
  }

  /** Waits for what is under way, never rejects, and gives the buffers back. */
  async settle(): Promise<void> {
    await Promise.all(this.#inFlight.splice(0));
    if (this.#batch !== null) this.#pool.giveBack(this.#batch);
    this.#batch = null;
  }

  /** A stream starts with a small buffer, so that small files and idle clients hold no large one. */
  async #roomy(): Promise<Uint8Array<ArrayBufferLike>> {
    if (this.#batch === null) {
      this.#batch = this.#started ? this.#pool.take() : sharedBuffer(SMALL);
      this.#started = true;
    } else if (this.#filled === this.#batch.length) {
      const next = this.#pool.take();
      if (next.length > this.#filled) next.set(this.#batch);
      else await this.#dispatch();
      this.#batch = next;
    }
    return this.#batch;
  }

  async #dispatch(): Promise<void> {
    const batch = this.#batch;
    if (batch === null) return;
    const bytes = batch.subarray(0, this.#filled);
    const position = this.#position;
    this.#batch = null;
    this.#filled = 0;
    this.#position += bytes.length;
    this.#inFlight.push(this.#store(batch, bytes, position));
    if (this.#inFlight.length > IN_FLIGHT) await this.#inFlight.shift();
    if (this.#failure !== null) throw this.#failure.error;
  }

  async #store(batch: Uint8Array<ArrayBufferLike>, bytes: Uint8Array<ArrayBufferLike>, position: number): Promise<void> {
    const written = this.#file.write(bytes, position);
    const hashed = this.#digest === null ? null : this.#digest.update(bytes);
    const outcomes = await Promise.allSettled([written, hashed]);
    this.#pool.giveBack(batch);
    for (const outcome of outcomes) if (outcome.status === "rejected") this.#failure ??= { error: outcome.reason };
  }
}

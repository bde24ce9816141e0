/**
 * Writing a stream to a file in large batches, hashed on the way: a batch is hashed here while another thread writes it.
 * (Hashing in a worker thread was tried over shared memory and did not win on two cores, with or without SHA instructions.)
 */
import type { Hash } from "node:crypto";
import { type BufferPool, LARGE, SMALL } from "./buffers.ts";
import type { OpenFile } from "./file-system.ts";

/** Batches of one stream that are being written while the next is filled. */
const IN_FLIGHT = 1;
/**
 * Written bytes are flushed this often while more arrive, so that the flush at the end has little left to wait for. A
 * single long stream loses half its rate when it is flushed every 4 MiB.
 */
const FLUSH_EVERY = 32 * LARGE;

export interface BatchWriterParts {
  readonly file: OpenFile;
  readonly position: number;
  /** null: not hashed. */
  readonly digest: Hash | null;
  readonly pool: BufferPool;
  /** Flushes the file. */
  readonly flush: () => Promise<void>;
  /** Bytes between two flushes; absent: {@link FLUSH_EVERY}. */
  readonly flushEvery?: number;
}

/**
 * Takes chunks in, writes them in batches. The bytes of a chunk are copied, so its owner may use it again at once.
 * After any rejection only {@link BatchWriter.settle} may be called.
 */
export class BatchWriter {
  readonly #parts: BatchWriterParts;
  readonly #inFlight: Promise<void>[] = [];
  #batch: Buffer | null = null;
  #filled = 0;
  #started = false;
  #position: number;
  #flushedTo: number;
  #flushing: Promise<void> = Promise.resolve();
  #failure: { readonly error: unknown } | null = null;

  constructor(parts: BatchWriterParts) {
    this.#parts = parts;
    this.#position = parts.position;
    this.#flushedTo = parts.position;
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
    await this.#flushing;
    if (this.#batch !== null) this.#parts.pool.release(this.#batch);
    this.#batch = null;
  }

  /** A stream starts with a small buffer, so that small files and idle clients hold no large one. */
  async #roomy(): Promise<Buffer> {
    if (this.#batch === null) {
      this.#batch = this.#started ? this.#parts.pool.acquire() : Buffer.allocUnsafeSlow(SMALL);
      this.#started = true;
    } else if (this.#filled === this.#batch.length) {
      const next = this.#parts.pool.acquire();
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
    // One write at a time: two of one file wait for its lock in the kernel, and spin.
    while (this.#inFlight.length >= IN_FLIGHT) await this.#inFlight.shift();
    this.#inFlight.push(this.#store(batch, bytes, this.#position));
    this.#batch = null;
    this.#filled = 0;
    this.#position += bytes.length;
    if (this.#position - this.#flushedTo >= (this.#parts.flushEvery ?? FLUSH_EVERY)) this.#flushEarly();
    if (this.#failure !== null) throw this.#failure.error;
  }

  async #store(batch: Buffer, bytes: Buffer, position: number): Promise<void> {
    const { file, digest, pool } = this.#parts;
    try {
      const written = file.write(bytes, position);
      digest?.update(bytes);
      await written;
    } catch (error) {
      this.#failure ??= { error };
    } finally {
      pool.release(batch);
    }
  }

  #flushEarly(): void {
    this.#flushedTo = this.#position;
    this.#flushing = this.#flushing
      .then(() => this.#parts.flush())
      .catch((error: unknown) => {
        this.#failure ??= { error };
      });
  }
}

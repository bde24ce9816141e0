/** Reading a range of a file through two buffers in turn. */
import type { BufferPool } from "./buffers.ts";
import type { FileSystem, OpenFile } from "./file-system.ts";

/** The last chunk of a range is at most this long: it cannot use a pooled buffer. */
const TAIL = 256 * 1024;

/**
 * The bytes `[offset, end)` of the file. It is opened at the first step, so an iteration that never begins holds
 * nothing. A chunk stays valid until the next-but-one is asked for (see BlobStore.open). Nobody asks for a chunk after
 * the last one, so that one has a buffer of its own.
 */
export function readRange(
  files: FileSystem,
  path: string,
  offset: number,
  end: number,
  pool: BufferPool,
): AsyncIterableIterator<Uint8Array> {
  return new RangeReader(files, path, offset, end, pool);
}

class RangeReader implements AsyncIterableIterator<Uint8Array> {
  readonly #files: FileSystem;
  readonly #path: string;
  readonly #end: number;
  readonly #pool: BufferPool;
  #position: number;
  #file: OpenFile | null = null;
  #finished = false;
  /** Lent to the consumer: the older one is free to be written over at the next step. */
  #older: Buffer | null = null;
  #newer: Buffer | null = null;

  constructor(files: FileSystem, path: string, offset: number, end: number, pool: BufferPool) {
    this.#files = files;
    this.#path = path;
    this.#position = offset;
    this.#end = end;
    this.#pool = pool;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#finished || this.#position >= this.#end) {
      // Asking for more than the last chunk says that all pooled ones are done with.
      await this.#close((buffer) => this.#pool.release(buffer));
      return { done: true, value: undefined };
    }
    try {
      this.#file ??= await this.#files.open(this.#path, "read");
      return { done: false, value: await this.#read(this.#file) };
    } catch (error) {
      await this.#close();
      throw error;
    }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    await this.#close();
    return { done: true, value: undefined };
  }

  async #read(file: OpenFile): Promise<Uint8Array> {
    const left = this.#end - this.#position;
    const wanted = left <= TAIL ? Buffer.allocUnsafeSlow(left) : this.#turn().subarray(0, left - TAIL);
    if ((await file.read(wanted, this.#position)) < wanted.length)
      throw new Error(`${this.#path} is shorter than it was`);
    this.#position += wanted.length;
    return wanted;
  }

  /** The buffer whose chunk the consumer has finished with becomes the newer one. */
  #turn(): Buffer {
    const buffer = this.#older ?? this.#pool.acquire();
    this.#older = this.#newer;
    this.#newer = buffer;
    return buffer;
  }

  /** After an early end the consumer may still be sending what it holds, so those buffers are not used again. */
  async #close(free: (buffer: Buffer) => void = (buffer) => this.#pool.forget(buffer)): Promise<void> {
    this.#finished = true;
    for (const buffer of [this.#older, this.#newer]) if (buffer !== null) free(buffer);
    this.#older = null;
    this.#newer = null;
    const file = this.#file;
    this.#file = null;
    await file?.close();
  }
}

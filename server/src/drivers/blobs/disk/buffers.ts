/** Buffers that are used again. A fresh megabyte per read or write costs page faults and garbage (measured 4x slower). */

export const LARGE = 1024 * 1024;
export const SMALL = 64 * 1024;

/**
 * At most `limit` large buffers are out at once; who comes then gets a small one, so that hundreds of stalled clients
 * hold little memory and nobody waits for anybody.
 */
export class BufferPool {
  readonly #make: (size: number) => Uint8Array<ArrayBufferLike>;
  readonly #limit: number;
  readonly #idle: Uint8Array<ArrayBufferLike>[] = [];
  #out = 0;

  constructor(make: (size: number) => Uint8Array<ArrayBufferLike>, limit: number) {
    this.#make = make;
    this.#limit = limit;
  }

  take(): Uint8Array<ArrayBufferLike> {
    if (this.#out >= this.#limit) return this.#make(SMALL);
    this.#out += 1;
    return this.#idle.pop() ?? this.#make(LARGE);
  }

  /** Only when nobody can be reading it any more. */
  giveBack(buffer: Uint8Array<ArrayBufferLike>): void {
    if (buffer.length !== LARGE) return;
    this.#out -= 1;
    this.#idle.push(buffer);
  }

  /** For a buffer that somebody may still be reading: it is left to the garbage collector. */
  letGo(buffer: Uint8Array<ArrayBufferLike>): void {
    if (buffer.length === LARGE) this.#out -= 1;
  }
}

export const unsharedBuffer = (size: number): Uint8Array<ArrayBufferLike> => Buffer.allocUnsafeSlow(size);

/** Readable by another thread without a copy. */
export const sharedBuffer = (size: number): Uint8Array<ArrayBufferLike> => new Uint8Array(new SharedArrayBuffer(size));

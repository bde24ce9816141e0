/** Buffers that are used again. A fresh megabyte per read or write costs page faults and garbage. */

export const LARGE = 1024 * 1024;
export const SMALL = 64 * 1024;

/**
 * At most `limit` large buffers are out at once; the next reader gets a small one. So hundreds of stalled clients hold
 * little memory, and nobody waits for anybody.
 */
export class BufferPool {
  readonly #limit: number;
  readonly #idle: Buffer[] = [];
  #out = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  acquire(): Buffer {
    if (this.#out >= this.#limit) return Buffer.allocUnsafeSlow(SMALL);
    this.#out += 1;
    return this.#idle.pop() ?? Buffer.allocUnsafeSlow(LARGE);
  }

  /** Only when nobody can be reading it any more. */
  release(buffer: Buffer): void {
    if (buffer.length !== LARGE) return;
    this.#out -= 1;
    this.#idle.push(buffer);
  }

  /** For a buffer that somebody may still be reading: it is left to the garbage collector. */
  forget(buffer: Buffer): void {
    if (buffer.length === LARGE) this.#out -= 1;
  }
}

/** Memory of bytes on their way: blocks that are used again, so that many transfers cost no more than a few. */
import { createHash, type Hash } from "node:crypto";
import type { S3Body } from "./client.ts";

const BLOCK = 256 * 1024;

export class BlockPool {
  readonly #free: Buffer[] = [];
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(BLOCK);
  }

  giveBack(blocks: readonly Buffer[]): void {
    for (const block of blocks) if (this.#free.length < this.#most) this.#free.push(block);
  }
}

/** A part that fills. It holds no more memory than has arrived. */
export class Filling {
  readonly #pool: BlockPool;
  readonly #blocks: Buffer[] = [];
  readonly #hash: Hash = createHash("sha256");
  #length = 0;

  constructor(pool: BlockPool) {
    this.#pool = pool;
  }

  get length(): number {
    return this.#length;
  }

  /** Copies. */
  add(chunk: Uint8Array): void {
    this.#hash.update(chunk);
    for (let at = 0; at < chunk.length;) {
      const used = this.#length % BLOCK;
      if (used === 0) this.#blocks.push(this.#pool.take());
      const block = this.#blocks.at(-1) ?? Buffer.alloc(0);
      const count = Math.min(BLOCK - used, chunk.length - at);
      block.set(chunk.subarray(at, at + count), used);
      this.#length += count;
      at += count;
    }
  }

  /** The digest so far, that goes on: of a blob's first part it is the beginning of the whole one's. */
  digest(): Hash {
    return this.#hash.copy();
  }

  body(): S3Body {
    const last = this.#blocks.length - 1;
    const blocks = this.#blocks.map((block, at) =>
      at === last ? block.subarray(0, this.#length - last * BLOCK) : block,
    );
    return { blocks, bytes: this.#length, sha256: this.#hash.copy().digest("hex") };
  }

  /** The bytes are sent, or given up. */
  release(): void {
    this.#pool.giveBack(this.#blocks.splice(0));
    this.#length = 0;
  }
}

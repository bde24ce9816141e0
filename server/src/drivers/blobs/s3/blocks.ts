/** Memory of bytes on their way: blocks that are used again, so that many transfers cost no more than a few. */
import { createHash, type Hash } from "node:crypto";
import type { S3Body } from "./client.ts";

export const BLOCK = 256 * 1024;

/** Blocks that stay while nothing is on its way. */
const KEPT_AT_REST = 8;

export class BlockPool {
  readonly #free: Buffer[] = [];
  readonly #most: number;
  #taken = 0;

  /** `most`: how many may be out before it is {@link isCrowded}. */
  constructor(most: number) {
    this.#most = most;
  }

  /** An upload that has bytes on their way then waits for them before it takes more. */
  get isCrowded(): boolean {
    return this.#taken >= this.#most;
  }

  take(): Buffer {
    this.#taken += 1;
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(BLOCK);
  }

  giveBack(blocks: readonly Buffer[]): void {
    this.#taken -= blocks.length;
    this.#free.push(...blocks);
    const most = this.#taken === 0 ? KEPT_AT_REST : this.#most;
    if (this.#free.length > most) this.#free.length = most;
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

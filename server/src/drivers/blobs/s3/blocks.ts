/** Memory of bytes on their way: blocks that are used again, so that many transfers cost no more than a few. */
import { createHash, type Hash } from "node:crypto";
import type { S3Body } from "./client.ts";

export const BLOCK = 256 * 1024;

/** Blocks that stay however long nobody needs them. */
const KEPT = 8;
/** So long a block stays that nobody needs. Milliseconds. */
const UNUSED_FOR = 10_000;

export class BlockPool {
  /** Whether what fills its blocks has a digest of its own. */
  readonly signsBodies: boolean;
  /** The last ones go out first. */
  readonly #free: Buffer<ArrayBuffer>[] = [];
  readonly #most: () => number;
  #taken = 0;
  /** The fewest that were free since the last look: nobody needed the first ones. */
  #fewest = 0;
  #looking: NodeJS.Timeout | null = null;

  /** `most`: how many may be out now before it is {@link isCrowded}. */
  constructor(most: () => number, signsBodies: boolean) {
    this.#most = most;
    this.signsBodies = signsBodies;
  }

  /** An upload that has bytes on their way then waits for them before it takes more. */
  get isCrowded(): boolean {
    return this.#taken >= this.#most();
  }

  take(): Buffer<ArrayBuffer> {
    this.#taken += 1;
    const block = this.#free.pop() ?? Buffer.allocUnsafeSlow(BLOCK);
    this.#fewest = Math.min(this.#fewest, this.#free.length);
    return block;
  }

  giveBack(blocks: readonly Buffer<ArrayBuffer>[]): void {
    this.#taken -= blocks.length;
    this.#free.push(...blocks);
    if (this.#free.length > KEPT) this.#look();
  }

  /** Frees at once what nobody needed: the collector would leave it for a long time. No connection still sends it. */
  #look(): void {
    this.#looking ??= setTimeout(() => {
      this.#looking = null;
      for (const { buffer } of this.#free.splice(0, Math.max(0, this.#fewest - KEPT))) buffer.transfer(0);
      this.#fewest = this.#free.length;
      if (this.#free.length > KEPT) this.#look();
    }, UNUSED_FOR).unref();
  }
}

/** A part that fills. It holds no more memory than has arrived. */
export class Filling {
  readonly #pool: BlockPool;
  readonly #blocks: Buffer<ArrayBuffer>[] = [];
  readonly #hash: Hash | null;
  #length = 0;

  constructor(pool: BlockPool) {
    this.#pool = pool;
    this.#hash = pool.signsBodies ? createHash("sha256") : null;
  }

  get length(): number {
    return this.#length;
  }

  /** Copies. */
  add(chunk: Uint8Array): void {
    this.#hash?.update(chunk);
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
    if (this.#hash !== null) return this.#hash.copy();
    return this.#filled().reduce((digest, block) => digest.update(block), createHash("sha256"));
  }

  body(): S3Body {
    const sha256 = this.#hash === null ? null : this.#hash.copy().digest("hex");
    return { blocks: this.#filled(), bytes: this.#length, sha256 };
  }

  /** The bytes are sent, or given up. */
  release(): void {
    this.#pool.giveBack(this.#blocks.splice(0));
    this.#length = 0;
  }

  #filled(): Buffer[] {
    const last = this.#blocks.length - 1;
    return this.#blocks.map((block, at) => (at === last ? block.subarray(0, this.#length - last * BLOCK) : block));
  }
}

/** A part that fills with the bytes of an upload. */
import { createHash, type Hash } from "node:crypto";
import type { S3Body } from "./client.ts";

const BLOCK = 256 * 1024;

/** A part that fills. It holds no more memory than has arrived. */
export class Filling {
  readonly #blocks: Buffer[] = [];
  readonly #hash: Hash | null;
  #length = 0;

  /** `isSigned`: it has a digest of its own. */
  constructor(isSigned: boolean) {
    this.#hash = isSigned ? createHash("sha256") : null;
  }

  get length(): number {
    return this.#length;
  }

  /** Copies. */
  add(chunk: Uint8Array): void {
    this.#hash?.update(chunk);
    for (let at = 0; at < chunk.length;) {
      const used = this.#length % BLOCK;
      if (used === 0) this.#blocks.push(Buffer.allocUnsafeSlow(BLOCK));
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

  #filled(): Buffer[] {
    const last = this.#blocks.length - 1;
    return this.#blocks.map((block, at) => (at === last ? block.subarray(0, this.#length - last * BLOCK) : block));
  }
}

/** SHA-256 of content as it passes. */
import { createHash, type Hash } from "node:crypto";

export interface RunningDigest {
  /** Resolves when `bytes` may be written over. Updates take effect in the order they were made. */
  update(bytes: Uint8Array<ArrayBufferLike>): Promise<void>;
  /** An independent digest of what has been taken in so far. */
  copy(): RunningDigest;
  /** Lower-case hex; ends the digest. */
  end(): Promise<string>;
  /** Ends the digest without a result. */
  drop(): void;
}

export interface Hashing extends AsyncDisposable {
  start(): RunningDigest;
}

export function openHashing(): Hashing {
  return { start: () => new LocalDigest(createHash("sha256")), [Symbol.asyncDispose]: () => Promise.resolve() };
}

class LocalDigest implements RunningDigest {
  readonly #hash: Hash;

  constructor(hash: Hash) {
    this.#hash = hash;
  }

  async update(bytes: Uint8Array<ArrayBufferLike>): Promise<void> {
    this.#hash.update(bytes);
  }

  copy(): RunningDigest {
    return new LocalDigest(this.#hash.copy());
  }

  async end(): Promise<string> {
    return this.#hash.digest("hex");
  }

  drop(): void {}
}

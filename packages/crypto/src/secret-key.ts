import { copyBytes } from "./bytes.ts";
import { KeyDisposedError } from "./errors.ts";

/** Where Node looks for a value's own rendering (`util.inspect`); a registered symbol, so no import is needed. */
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/**
 * 32 secret bytes with an owner, who disposes them. No log, error, inspect or JSON shows them; only
 * {@link SecretKey.reveal} gives them.
 *
 * A use that waits for anything takes a counted hold with {@link SecretKey.whileHeld}. So the bytes stay until the last
 * use is over, and nobody ever encrypts with, or wraps, the zeros that overwrite them.
 */
export class SecretKey {
  readonly #bytes: Uint8Array;
  #holds = 0;
  #isDisposed = false;

  /** Takes a copy. Throws TypeError unless there are 32 bytes. */
  constructor(bytes: Uint8Array) {
    if (bytes.length !== 32) throw new TypeError("a key has 32 bytes");
    this.#bytes = copyBytes(bytes);
  }

  /**
   * The bytes themselves. Pass them on, never keep or change them; across an `await` they are valid within
   * {@link SecretKey.whileHeld} alone. Throws KeyDisposedError.
   */
  reveal(): Uint8Array {
    this.requireUsable();
    return this.#bytes;
  }

  /**
   * Runs `work` with a hold on the bytes. Throws KeyDisposedError when the key is disposed before, and also when that
   * happens meanwhile: then it drops the result of `work`, and disposes one that is a key itself.
   */
  async whileHeld<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    this.requireUsable();
    this.#holds += 1;
    try {
      const result = await work();
      if (this.#isDisposed && result instanceof SecretKey) result.dispose();
      this.requireUsable();
      return result;
    } finally {
      this.#holds -= 1;
      this.#overwriteUnlessHeld();
    }
  }

  /** From now on every use throws KeyDisposedError. The bytes are overwritten now, or when the last hold is given back. Safe to repeat. */
  dispose(): void {
    this.#isDisposed = true;
    this.#overwriteUnlessHeld();
  }

  toString(): string {
    return "[redacted]";
  }

  toJSON(): string {
    return "[redacted]";
  }

  [INSPECT](): string {
    return "SecretKey [redacted]";
  }

  protected requireUsable(): void {
    if (this.#isDisposed) throw new KeyDisposedError();
  }

  /** For keys that keep more secrets than their bytes: overwrites all of them. */
  protected overwrite(): void {
    this.#bytes.fill(0);
  }

  #overwriteUnlessHeld(): void {
    if (this.#isDisposed && this.#holds === 0) this.overwrite();
  }
}

/**
 * The key of one content version, used for exactly one message (file-format §2). It lives for as long as the message's
 * own keys are derived and it is wrapped: whoever makes or gets one disposes it then.
 */
export class DataKey extends SecretKey {
  /** Keeps it apart from other keys for the compiler. */
  readonly use = "content";

  /** The last use: derives the message's own keys, which are enough from then on, and disposes this one. */
  async consume<Result>(derive: (bytes: Uint8Array) => Promise<Result>): Promise<Result> {
    try {
      return await this.whileHeld(() => derive(this.reveal()));
    } finally {
      this.dispose();
    }
  }
}

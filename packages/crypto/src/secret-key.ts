import { copyBytes } from "./bytes.ts";

/** Where Node looks for a value's own rendering (`util.inspect`); a registered symbol, so no import is needed. */
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** 32 secret bytes. No log, error, inspect or JSON shows them; only {@link SecretKey.reveal} gives them. */
export class SecretKey {
  readonly #bytes: Uint8Array;

  /** Takes a copy. Throws TypeError unless there are 32 bytes. */
  constructor(bytes: Uint8Array) {
    if (bytes.length !== 32) throw new TypeError("a key has 32 bytes");
    this.#bytes = copyBytes(bytes);
  }

  /** The bytes themselves. Pass them on, never keep or change them. */
  reveal(): Uint8Array {
    return this.#bytes;
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
}

/** The key of one content version, used for exactly one message (file-format §2). */
export class DataKey extends SecretKey {
  /** Keeps it apart from other keys for the compiler. */
  readonly use = "content";
}

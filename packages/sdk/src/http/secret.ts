import { markClass } from "./class-mark.ts";

/** Where Node looks for a value's own rendering (`util.inspect`); a registered symbol, so no import is needed. */
export const INSPECT = Symbol.for("nodejs.util.inspect.custom");

export const REDACTED = "[redacted]";

/**
 * Holds a credential so that no log, error, inspect or JSON shows it by accident. Only {@link Secret.reveal} gives the text.
 *
 * @example
 * ```ts
 * const key = new Secret(process.env.SERVICE_API_KEY ?? "");
 * String(key); // "[redacted]"
 * ```
 */
export class Secret {
  static {
    markClass(this, "Secret");
  }

  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text itself. Pass it on, never keep it. */
  reveal(): string {
    return this.#text;
  }

  /** `[redacted]`. */
  toString(): string {
    return REDACTED;
  }

  /** `[redacted]`. */
  toJSON(): string {
    return REDACTED;
  }

  [INSPECT](): string {
    return `Secret ${REDACTED}`;
  }
}

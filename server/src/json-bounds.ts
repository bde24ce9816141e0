/** What JSON may be before it is parsed: parsing and checking cost by the values that there are, not by the bytes. */
import { ServiceError } from "./service-error.ts";

/** Arrays and objects inside one another. */
export const MAX_JSON_DEPTH = 32;

/** Values of one document, those of keys included. */
export const MAX_JSON_VALUES = 10_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** What a byte outside of a string can be. Bytes beyond ASCII are left to the parser: a byte order mark is three of them. */
const NOTHING = 0;
const PLAIN = 1;
const OPENING = 2;
const CLOSING = 3;
const COMMA = 4;
const STRING = 5;

const KINDS = new Uint8Array(256).fill(PLAIN, 0x80);
for (const [kind, texts] of [
  [PLAIN, " \t\r\n:+-.0123456789eEtrufalsn"],
  [OPENING, "[{"],
  [CLOSING, "]}"],
  [COMMA, ","],
  [STRING, '"'],
] as const)
  for (const byte of Buffer.from(texts)) KINDS[byte] = kind;

/** Goes over one document as it arrives, so that what is beyond the bounds is refused at its first chunk. The parser has the last word. */
export class JsonBounds {
  #depth = 0;
  #values = 1;
  #inString = false;
  /** The last chunk ended in a string, and with a backslash that escapes what comes next. */
  #escapes = false;

  /** Throws `validation_failed`, and `malformed_json` for a byte that no JSON has. */
  add(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#inString) {
        at = this.#passString(chunk, at);
        continue;
      }
      const kind = KINDS[chunk[at] ?? 0] ?? NOTHING;
      at += 1;
      if (kind !== PLAIN) this.#count(kind);
    }
  }

  #count(kind: number): void {
    if (kind === NOTHING) throw new ServiceError("malformed_json");
    if (kind === STRING) this.#inString = true;
    else if (kind === CLOSING) this.#depth -= 1;
    else this.#values += 1;
    if (kind === OPENING) this.#depth += 1;
    if (this.#depth > MAX_JSON_DEPTH) throw beyond(`nested deeper than ${MAX_JSON_DEPTH} levels`);
    if (this.#values > MAX_JSON_VALUES) throw beyond(`more than ${MAX_JSON_VALUES} values`);
  }

  /** Where the chunk goes on after the next quote; its end when there is none. */
  #passString(chunk: Buffer, start: number): number {
    const found = chunk.indexOf(QUOTE, start);
    const end = found === -1 ? chunk.length : found;
    let run = end;
    while (run > start && chunk[run - 1] === BACKSLASH) run -= 1;
    const backslashes = end - run + (run === start && this.#escapes ? 1 : 0);
    const isEscaped = backslashes % 2 === 1;
    this.#escapes = found === -1 && isEscaped;
    if (found === -1) return end;
    this.#inString = isEscaped;
    return end + 1;
  }
}

function beyond(reason: string): ServiceError {
  return new ServiceError("validation_failed", `body: ${reason}; send less at once`);
}

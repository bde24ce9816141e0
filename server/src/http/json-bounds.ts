/** What JSON may be before it is parsed: parsing and checking cost by the values that there are, not by the bytes. */
import { ServiceError } from "./errors.ts";

/** Arrays and objects inside one another. */
export const MAX_JSON_DEPTH = 32;

/** Values of one document, those of keys included. */
export const MAX_JSON_VALUES = 10_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** Throws `validation_failed`. One pass over the bytes, which stops where the limit is passed; what is no JSON may pass. */
export function requireJsonBounds(bytes: Buffer): void {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (byte === COMMA) values += 1;
    else if (OPENING.has(byte)) {
      depth += 1;
      values += 1;
    } else if (CLOSING.has(byte)) depth -= 1;
    if (depth > MAX_JSON_DEPTH) throw beyond(`nested deeper than ${MAX_JSON_DEPTH} levels`);
    if (values > MAX_JSON_VALUES) throw beyond(`more than ${MAX_JSON_VALUES} values`);
  }
}

/** Where the string that begins at `start` ends; past the last byte when it does not. */
function endOfString(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf(QUOTE, start + 1); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    let before = at;
    while (bytes[before - 1] === BACKSLASH) before -= 1;
    if ((at - before) % 2 === 0) return at;
  }
  return bytes.length;
}

function beyond(reason: string): ServiceError {
  return new ServiceError("validation_failed", `body: ${reason}; send less at once`);
}

/**
 * The file of seen statements: one line for each, all of one length. So a line that a crash cut off differs from one
 * that was changed.
 *
 * ```
 * line    fields in base64 (100) || CRC-32 of those 100 characters in hex (8)
 * fields  kind(1: version, entry) || file or folder id(16) || 00 || number(8) || place(16) || 00 || hash(32)      file-format §8
 * ```
 */
import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import type { SeenStatement } from "@coffer/crypto";
import type { SeenKind } from "../../shared-vaults/trust/seen-memory.ts";

export const LINE_CHARACTERS = 108;
const FIELD_CHARACTERS = 100;
/** Kind, id and zero: 18 bytes are whole characters of base64. */
const KEY_CHARACTERS = 24;
const KINDS = { version: 1, entry: 2 } as const;

/** The key of a note, and the rest of its fields, both as the line has them. */
export interface SeenFields {
  readonly key: string;
  readonly rest: string;
}

export function keyOf(kind: SeenKind, id: string): string {
  const bytes = Buffer.alloc(18);
  bytes[0] = KINDS[kind];
  if (bytes.write(id.replaceAll("-", ""), 1, 16, "hex") !== 16) throw new RangeError("not the id of a file or folder");
  return bytes.toString("base64");
}

export function encodeRest({ number, generation, after, hash }: SeenStatement): string {
  const bytes = Buffer.alloc(57);
  bytes.writeBigUInt64BE(number, 0);
  bytes.writeBigUInt64BE(generation, 8);
  bytes.writeBigUInt64BE(after, 16);
  bytes.set(hash.subarray(0, 32), 25);
  return bytes.toString("base64");
}

export function decodeRest(rest: string): SeenStatement {
  const bytes = Buffer.from(rest, "base64");
  return {
    number: bytes.readBigUInt64BE(0),
    generation: bytes.readBigUInt64BE(8),
    after: bytes.readBigUInt64BE(16),
    hash: Uint8Array.from(bytes.subarray(25)),
  };
}

export function encodeLine({ key, rest }: SeenFields): string {
  return `${key}${rest}${checkOf(`${key}${rest}`)}`;
}

/** null: not such a line. */
export function parseLine(line: string): SeenFields | null {
  if (line.length !== LINE_CHARACTERS) return null;
  const fields = line.slice(0, FIELD_CHARACTERS);
  if (line.slice(FIELD_CHARACTERS) !== checkOf(fields)) return null;
  return { key: fields.slice(0, KEY_CHARACTERS), rest: fields.slice(KEY_CHARACTERS) };
}

/** Against accidents: anyone who can write the file on purpose can make the sum as well. */
function checkOf(text: string): string {
  return crc32(text).toString(16).padStart(8, "0");
}

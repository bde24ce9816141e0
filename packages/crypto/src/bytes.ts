/** Bytes of the format: everything is big endian, sizes are safe integers. */
import { findNodeCrypto } from "./node-crypto.ts";

export function concatBytes(...pieces: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  const all = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** A copy, as a plain Uint8Array. `slice` of a Node Buffer is no copy: it gives a view of the same memory. */
export function copyBytes(bytes: Uint8Array, from = 0, to = bytes.length): Uint8Array {
  return new Uint8Array(bytes.subarray(from, to));
}

/** From this length on it is worth a call into Node. Bytes. */
const LONG = 64;

/** Takes the same time wherever they differ. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  const node = a.length > LONG ? findNodeCrypto() : null;
  if (node !== null) return node.timingSafeEqual(a, b);
  let difference = 0;
  for (let at = 0; at < a.length; at += 1) difference |= (a[at] ?? 0) ^ (b[at] ?? 0);
  return difference === 0;
}

/** Node's, which takes a fifth of the time for a key and its signature; absent in browsers. */
const { Buffer: native } = globalThis as { readonly Buffer?: typeof Buffer };

/** A character for each byte, so that bytes can be the key of a map. For pieces of some kilobytes. */
export function latin1(bytes: Uint8Array): string {
  if (native) return native.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  // `apply` takes the array as it is; a spread goes through its iterator, seven times as slow.
  return String.fromCharCode.apply(null, bytes as unknown as number[]);
}

const ENCODER = new TextEncoder();

export function encodeText(text: string): Uint8Array {
  return ENCODER.encode(text);
}

/** Numbers are written here first: a view of each one's own bytes would give each a memory outside of the heap. */
const number = new Uint8Array(8);
const numberView = viewOf(number);

export function encodeU16(value: number): Uint8Array {
  numberView.setUint16(0, value);
  return number.slice(0, 2);
}

export function encodeU32(value: number): Uint8Array {
  numberView.setUint32(0, value);
  return number.slice(0, 4);
}

export function encodeU64(value: number | bigint): Uint8Array {
  numberView.setBigUint64(0, BigInt(value));
  return number.slice();
}

export function decodeU16(bytes: Uint8Array, at = 0): number {
  return viewOf(bytes).getUint16(at);
}

export function decodeU32(bytes: Uint8Array, at = 0): number {
  return viewOf(bytes).getUint32(at);
}

export function decodeU64(bytes: Uint8Array, at = 0): bigint {
  return viewOf(bytes).getBigUint64(at);
}

/** Base64 with padding (RFC 4648 §4). For pieces of some kilobytes. */
export function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** The bytes of canonical base64 with padding; null for anything else. */
export function fromBase64(text: string): Uint8Array | null {
  if (text.length % 4 !== 0 || !/^[\w+/]*={0,2}$/.test(text) || text.includes("_")) return null;
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  // Bits that no byte uses must be zero: one text per value.
  return toBase64(bytes) === text ? bytes : null;
}

/** The 16 bytes of a UUID in lower case (RFC 9562 §4). Throws TypeError for another form. */
export function encodeUuid(uuid: string): Uint8Array {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uuid)) throw new TypeError("not a UUID in lower case");
  const bytes = new Uint8Array(16);
  for (let at = 0, from = 0; at < 16; at += 1, from += 2) {
    if (uuid[from] === "-") from += 1;
    bytes[at] = hexDigit(uuid.charCodeAt(from)) * 16 + hexDigit(uuid.charCodeAt(from + 1));
  }
  return bytes;
}

/** The value of `0` to `9` (0x30 to 0x39) or `a` to `f` (0x61 to 0x66). */
function hexDigit(code: number): number {
  return code < 0x60 ? code - 0x30 : code - 0x57;
}

const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

export function decodeUuid(bytes: Uint8Array): string {
  if (bytes.length !== 16) throw new TypeError("a UUID has 16 bytes");
  let text = "";
  for (let at = 0; at < 16; at += 1) {
    if (at === 4 || at === 6 || at === 8 || at === 10) text += "-";
    text += HEX[bytes[at] ?? 0] ?? "";
  }
  return text;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

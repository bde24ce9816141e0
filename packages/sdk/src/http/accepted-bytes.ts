import type { BinaryBody } from "./byte-body.ts";

/** The accepted forms of bytes, in words. */
export const ACCEPTED_BYTES = "a string, Uint8Array, Blob, ReadableStream or AsyncIterable of Uint8Array";

/** The caller's bytes, a string as its UTF-8; null: it is nothing of the kind. */
export function acceptBytes(value: unknown): BinaryBody | null {
  if (typeof value === "string") return new TextEncoder().encode(value);
  return isBinary(value) ? value : null;
}

function isBinary(value: unknown): value is BinaryBody {
  if (value instanceof Uint8Array || value instanceof Blob || value instanceof ReadableStream) return true;
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

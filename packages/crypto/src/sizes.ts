import { BLOCK_BYTES, CHUNK_BYTES, TAG_BYTES } from "./platform/platform.ts";

/** Salt and commitment in front of a message's chunks. */
export const MESSAGE_PREFIX_BYTES = 56;
/** A message has at most 2^38 chunks, the last of them short (c2sp.org/chunked-encryption, "Message chunking"). */
export const MAX_CHUNKS = 2 ** 38;
/** The longest plaintext of one message: one byte short of 4 PiB. */
export const MAX_PLAINTEXT_BYTES = MAX_CHUNKS * CHUNK_BYTES - 1;
/** The true size at the end of a padded plaintext. */
export const PADDING_FOOTER_BYTES = 8;

/** How many bytes a message of `plaintext` bytes has, salt and commitment included. Throws RangeError outside 0…2^52-1. */
export function ciphertextSize(plaintext: number): number {
  checkSize(plaintext, MAX_PLAINTEXT_BYTES, "a plaintext");
  return MESSAGE_PREFIX_BYTES + plaintext + (Math.floor(plaintext / CHUNK_BYTES) + 1) * TAG_BYTES;
}

/** How many bytes of plaintext a message of `message` bytes holds. Throws RangeError for a length that no message has. */
export function plaintextSize(message: number): number {
  checkSize(message, ciphertextSize(MAX_PLAINTEXT_BYTES), "a message");
  const chunks = message - MESSAGE_PREFIX_BYTES;
  const last = chunks % BLOCK_BYTES;
  if (chunks < TAG_BYTES || last < TAG_BYTES) throw new RangeError(`no message has ${message} bytes`);
  return Math.floor(chunks / BLOCK_BYTES) * CHUNK_BYTES + last - TAG_BYTES;
}

/**
 * Bytes of a padded plaintext for `content` bytes of content. Padmé (Nikitin et al., "Reducing Metadata Leakage from
 * Encrypted Files and Communication with PURBs", §4) of the content with its 8-byte footer. It is raised until the
 * final chunk holds the whole footer. At most about 12 % more. Throws RangeError for a size that would not fit a
 * message.
 */
export function paddedSize(content: number): number {
  checkSize(content, MAX_PLAINTEXT_BYTES - PADDING_FOOTER_BYTES, "a content");
  const rounded = padme(content + PADDING_FOOTER_BYTES);
  const inFinalChunk = rounded % CHUNK_BYTES;
  const padded = inFinalChunk < PADDING_FOOTER_BYTES ? rounded + PADDING_FOOTER_BYTES - inFinalChunk : rounded;
  checkSize(padded, MAX_PLAINTEXT_BYTES, "a padded plaintext");
  return padded;
}

/** Rounds up so that the length shows only about log2(log2(length)) of its bits. `length` is at least 8. */
function padme(length: number): number {
  const exponent = floorLog2(length);
  const significant = floorLog2(exponent) + 1;
  const step = 2 ** (exponent - significant);
  return Math.ceil(length / step) * step;
}

/** Exact for safe integers, unlike Math.log2 close below a power of two. */
function floorLog2(value: number): number {
  const high = Math.floor(value / 2 ** 32);
  return high > 0 ? 63 - Math.clz32(high) : 31 - Math.clz32(value);
}

function checkSize(value: number, most: number, what: string): void {
  if (!Number.isSafeInteger(value) || value < 0 || value > most)
    throw new RangeError(`${what} has from 0 to ${most} bytes, not ${value}`);
}

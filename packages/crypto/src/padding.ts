import type { Pieces } from "./byte-source.ts";
import { decodeU64, encodeU64 } from "./bytes.ts";
import { damaged } from "./errors.ts";
import { paddedSize, PADDING_FOOTER_BYTES } from "./sizes.ts";

const ZERO_RUN_BYTES = 65536;

/** The part after the content in a padded plaintext, from plaintext offset `from` to `to`: zeros, and the footer with the size. */
export function* paddingBetween(contentSize: number, from: number, to: number): Generator<Uint8Array, void, void> {
  const footerAt = paddedSize(contentSize) - PADDING_FOOTER_BYTES;
  yield* zeros(Math.min(to, footerAt) - Math.max(from, contentSize));
  const footer = encodeU64(contentSize).subarray(Math.max(0, from - footerAt), Math.max(0, to - footerAt));
  if (footer.length > 0) yield footer;
}

/**
 * The content size that the final chunk of a padded plaintext of `plaintextSize` bytes states. Throws CryptoError damaged unless
 * padding this size gives exactly this length.
 */
export function parsePaddingFooter(finalChunk: Uint8Array, plaintextSize: number): number {
  if (finalChunk.length < PADDING_FOOTER_BYTES) throw damaged("padding", "the final chunk holds no size");
  const stated = decodeU64(finalChunk, finalChunk.length - PADDING_FOOTER_BYTES);
  if (stated > BigInt(plaintextSize - PADDING_FOOTER_BYTES) || !isPaddedTo(Number(stated), plaintextSize))
    throw damaged("padding", "the stated size does not fit the length");
  return Number(stated);
}

function isPaddedTo(contentSize: number, plaintextSize: number): boolean {
  try {
    return paddedSize(contentSize) === plaintextSize;
  } catch {
    return false; // Padding it would not fit a message.
  }
}

/**
 * The content of a padded plaintext, whose final chunk is its last piece. Only that chunk shows where the content
 * ends. So it counts zeros that may be padding, without keeping them, until something else follows. Throws CryptoError
 * damaged for padding that is not zeros or has a wrong length.
 */
export async function* withoutPadding(pieces: Pieces): AsyncGenerator<Uint8Array, void, void> {
  let lastPiece: Uint8Array | null = null;
  let released = 0;
  let pendingZeros = 0;
  for await (const piece of pieces) {
    if (lastPiece !== null) {
      const end = endOfContent(lastPiece);
      if (end > 0) {
        yield* zeros(pendingZeros);
        yield lastPiece.subarray(0, end);
        released += pendingZeros + end;
        pendingZeros = 0;
      }
      pendingZeros += lastPiece.length - end;
    }
    lastPiece = piece;
  }
  const finalChunk = lastPiece ?? new Uint8Array(0);
  const before = released + pendingZeros;
  const size = parsePaddingFooter(finalChunk, before + finalChunk.length);
  const body = finalChunk.subarray(0, finalChunk.length - PADDING_FOOTER_BYTES);
  const nonZeroEnd = endOfContent(body);
  if (size < (nonZeroEnd > 0 ? before + nonZeroEnd : released))
    throw damaged("padding", "the padding is not all zeros");
  yield* zeros(Math.min(size, before) - released);
  if (size > before) yield body.subarray(0, size - before);
}

/** Behind the last byte that is not zero. */
function endOfContent(bytes: Uint8Array): number {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  return end;
}

function* zeros(count: number): Generator<Uint8Array, void, void> {
  for (let remaining = count; remaining > 0; remaining -= ZERO_RUN_BYTES)
    yield new Uint8Array(Math.min(remaining, ZERO_RUN_BYTES));
}

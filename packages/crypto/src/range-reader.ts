import { readPieces, type ByteSource } from "./byte-source.ts";
import { concatBytes, copyBytes } from "./bytes.ts";
import type { MessageKeys } from "./cobblestone.ts";
import { openFileKeys, statedPlaintextSize, type FileKey } from "./decrypt-file.ts";
import { damaged } from "./errors.ts";
import { parseFileStart, type FileStart } from "./file-start.ts";
import { decryptFullChunks } from "./message-stream.ts";
import { parsePaddingFooter } from "./padding.ts";
import { BLOCK_BYTES, CHUNK_BYTES, type CryptoPlatform } from "./platform/platform.ts";
import { MESSAGE_PREFIX_BYTES } from "./sizes.ts";

/** How much of a file's front is read, once: more than its start can take. */
export const FIRST_READ_BYTES = 8192;

export interface RangeReaderOptions {
  /**
   * Bytes `from` to `to` (exclusive) of the stored file, of one version for all calls. Gives fewer only where the file ends before `to`.
   */
  readonly fetchBytes: (from: number, to: number, signal: AbortSignal | undefined) => ByteSource | Promise<ByteSource>;
  /** Like `decryptFile`, but the length of the message is required: without it nobody can find the end of the file. */
  readonly unlock: (start: FileStart) => RangeKey | Promise<RangeKey>;
  readonly signal?: AbortSignal;
}

export type RangeKey = FileKey & { readonly messageLength: number };

/** Reads pieces of one file version. It keeps only the final chunk. */
export interface RangeReader {
  readonly start: FileStart;
  /** Bytes of the content, without padding; authenticated. */
  readonly contentSize: number;
  /**
   * Content bytes `from` to `to` (exclusive), each authentic when it is given. Fetches the chunks that hold them and nothing else. Throws
   * RangeError unless 0 <= from <= to <= contentSize, CryptoError damaged, and the signal's reason.
   */
  read(from: number, to: number, signal?: AbortSignal): AsyncGenerator<Uint8Array, void, void>;
}

/**
 * Reads the start of a file and its final chunk, which authenticates the length (file-format §4). Throws the errors of
 * `decryptFile` up to the step `padding`. It checks no digest: that covers the whole message.
 */
export async function openRangeReader(platform: CryptoPlatform, options: RangeReaderOptions): Promise<RangeReader> {
  const fetched = await fetchAll(options, 0, FIRST_READ_BYTES, options.signal);
  const start = parseFileStart(fetched);
  const key = await options.unlock(start);
  const keys = await openFileKeys(platform, start, key);
  const plaintext = statedPlaintextSize(key.messageLength);
  const finalChunk = Math.floor(plaintext / CHUNK_BYTES);
  const chunksAt = start.payloadOffset + MESSAGE_PREFIX_BYTES;
  const finalAt = chunksAt + finalChunk * BLOCK_BYTES;
  const fileEnd = start.payloadOffset + key.messageLength;
  const stored =
    fileEnd <= fetched.length
      ? fetched.subarray(finalAt, fileEnd)
      : await fetchAll(options, finalAt, fileEnd, options.signal);
  if (stored.length !== fileEnd - finalAt) throw damaged("length", "the file is shorter than stated");
  const finalPiece = await keys.decrypt(stored, finalChunk);
  if (!finalPiece.complete) throw damaged("length", "the file's last chunk does not authenticate its length");
  const contentSize = start.header.padded ? parsePaddingFooter(finalPiece.plaintext, plaintext) : plaintext;
  const layout: Layout = { options, keys, chunksAt, finalChunk, finalPlaintext: finalPiece.plaintext };
  return {
    start,
    contentSize,
    read: (from, to, signal) => readRange(layout, contentSize, from, to, signal ?? options.signal),
  };
}

interface Layout {
  readonly options: RangeReaderOptions;
  readonly keys: MessageKeys;
  /** Where chunk 0 begins in the file. */
  readonly chunksAt: number;
  readonly finalChunk: number;
  readonly finalPlaintext: Uint8Array;
}

function readRange(
  layout: Layout,
  contentSize: number,
  from: number,
  to: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, void> {
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || from < 0 || from > to || to > contentSize)
    throw new RangeError(`the range ${from} to ${to} is not within 0 to ${contentSize}`);
  return rangePieces(layout, from, to, signal);
}

async function* rangePieces(
  { chunksAt, finalChunk, finalPlaintext, keys, options }: Layout,
  from: number,
  to: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, void> {
  if (from === to) return;
  const first = Math.floor(from / CHUNK_BYTES);
  const end = Math.min(Math.ceil(to / CHUNK_BYTES), finalChunk);
  if (first < end) {
    const source = await options.fetchBytes(chunksAt + first * BLOCK_BYTES, chunksAt + end * BLOCK_BYTES, signal);
    let at = first * CHUNK_BYTES;
    for await (const chunks of decryptFullChunks(keys, readPieces(source, signal), first, end)) {
      const part = chunks.subarray(Math.max(0, from - at), Math.max(0, to - at));
      if (part.length > 0) yield part;
      at += chunks.length;
    }
  }
  const finalAt = finalChunk * CHUNK_BYTES;
  // A copy: the stored bytes must not change with the given ones.
  if (to > finalAt) yield copyBytes(finalPlaintext, Math.max(0, from - finalAt), to - finalAt);
}

async function fetchAll(
  { fetchBytes }: RangeReaderOptions,
  from: number,
  to: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of readPieces(await fetchBytes(from, to, signal), signal)) {
    length += piece.length;
    if (length > to - from) throw damaged("length", "more came than was asked for");
    pieces.push(copyBytes(piece));
  }
  return concatBytes(...pieces);
}

import { PieceReader, type ByteSource } from "./byte-source.ts";
import { concatBytes, equalBytes } from "./bytes.ts";
import { openMessageKeys, type MessageKeys } from "./cobblestone.ts";
import { CryptoError, damaged } from "./errors.ts";
import { parseFileStart, type FileStart } from "./file-start.ts";
import { fileContext, HEADER_BYTES, parseHeader } from "./header.ts";
import { decryptChunks } from "./message-stream.ts";
import { withoutPadding } from "./padding.ts";
import type { DataKey } from "./secret-key.ts";
import { BLOCK_BYTES, CHUNK_BYTES, TAG_BYTES, type CryptoPlatform } from "./platform/platform.ts";
import { MESSAGE_PREFIX_BYTES, plaintextSize } from "./sizes.ts";

/** The results of opening a file's envelope. */
export interface FileKey {
  /** The reader disposes it when the message's own keys are derived. */
  readonly dataKey: DataKey;
  /** Bytes of the message in its version statement; absent when nobody stated them. */
  readonly messageLength?: number;
  /** SHA-256 of the message from its version statement; null or absent when it states none. Checked on whole reads only. */
  readonly digest?: Uint8Array | null;
}

/**
 * Checks a file's start against everything that vouches for it (ids, statement, record) and unwraps its data key.
 * Throws when one does not hold, and decrypts nothing then.
 */
export type Unlock = (start: FileStart) => FileKey | Promise<FileKey>;

export interface DecryptFileOptions {
  readonly unlock: Unlock;
  readonly signal?: AbortSignal;
  /** Less memory: a piece is valid only until the one after the next is asked for. For callers with one write under way at most. */
  readonly reuseBuffer?: boolean;
}

/**
 * The content of a file, in constant memory. Every piece is authentic when it is given. The file is whole only if the
 * iteration ends without an error: do not use the result before. Throws CryptoError at the step that failed, the
 * errors of `unlock`, and the signal's reason.
 */
export async function* decryptFile(
  platform: CryptoPlatform,
  file: ByteSource,
  { reuseBuffer = false, signal, unlock }: DecryptFileOptions,
): AsyncGenerator<Uint8Array, void, void> {
  const reader = new PieceReader(file, signal);
  try {
    const start = await readFileStart(reader);
    const key = await unlock(start);
    const keys = await openFileKeys(platform, start, key);
    const { padded } = start.header;
    // The code that removes padding checks a piece when the next is there.
    const chunks = decryptChunks(keys, checkedMessage(platform, start, key, reader), reuseBuffer && !padded);
    yield* padded ? withoutPadding(chunks) : chunks;
  } finally {
    await reader.return();
  }
}

/**
 * The content of a file that is in memory as a whole, checked to its end before it gives any of it. For small files,
 * for which a stream's steps would cost more than the bytes. Rejects as `decryptFile` throws.
 */
export async function decryptFileBytes(
  platform: CryptoPlatform,
  file: Uint8Array,
  unlock: Unlock,
): Promise<Uint8Array> {
  const start = parseFileStart(file);
  const key = await unlock(start);
  const keys = await openFileKeys(platform, start, key);
  const message = file.subarray(start.payloadOffset);
  checkLength(message.length, key.messageLength);
  const chunks = message.subarray(MESSAGE_PREFIX_BYTES);
  if (chunks.length % BLOCK_BYTES < TAG_BYTES) throw damaged("chunks", "the message ends without its final chunk");
  const { complete, plaintext } = await keys.decrypt(chunks, 0);
  if (!complete) throw damaged("chunks", "a chunk does not authenticate");
  if (key.digest) checkDigest(platform.sha256(message), key.digest);
  return start.header.padded ? contentOf(plaintext) : plaintext;
}

/** Without padding, whose length the final chunk states. */
async function contentOf(plaintext: Uint8Array): Promise<Uint8Array> {
  const finalChunk = plaintext.length - (plaintext.length % CHUNK_BYTES);
  const pieces: Uint8Array[] = [];
  for await (const piece of withoutPadding([plaintext.subarray(0, finalChunk), plaintext.subarray(finalChunk)]))
    pieces.push(piece);
  return concatBytes(...pieces);
}

/** Compares the data key with the file's commitment, and the stated length with the possible ones. Disposes the data key. */
export async function openFileKeys(platform: CryptoPlatform, start: FileStart, key: FileKey): Promise<MessageKeys> {
  const context = fileContext(start.headerPrefix);
  const keys = await key.dataKey.consume((bytes) => openMessageKeys(platform, bytes, start.messagePrefix, context));
  if (key.messageLength !== undefined) statedPlaintextSize(key.messageLength);
  return keys;
}

/** Plaintext bytes of a message of the stated length. Throws CryptoError damaged for a length that no message has. */
export function statedPlaintextSize(messageLength: number): number {
  try {
    return plaintextSize(messageLength);
  } catch (cause) {
    throw new CryptoError("damaged", "length", "no message has the stated length", { cause });
  }
}

async function readFileStart(reader: PieceReader): Promise<FileStart> {
  const headerBytes = await reader.read(HEADER_BYTES);
  const { envelopeLength } = parseHeader(headerBytes);
  return parseFileStart(concatBytes(headerBytes, await reader.read(envelopeLength + MESSAGE_PREFIX_BYTES)));
}

/** The chunks as they come, compared with the stated length and digest. */
async function* checkedMessage(
  platform: CryptoPlatform,
  start: FileStart,
  { digest, messageLength }: FileKey,
  reader: PieceReader,
): AsyncGenerator<Uint8Array, void, void> {
  const hash = digest === undefined || digest === null ? null : platform.createSha256();
  hash?.update(start.messagePrefix);
  let seen = MESSAGE_PREFIX_BYTES;
  for await (const piece of reader) {
    seen += piece.length;
    if (messageLength !== undefined && seen > messageLength) throw damaged("length", "the file is longer than stated");
    hash?.update(piece);
    yield piece;
  }
  checkLength(seen, messageLength);
  if (hash !== null && digest) checkDigest(hash.digest(), digest);
}

function checkLength(length: number, stated: number | undefined): void {
  if (stated === undefined || length === stated) return;
  throw damaged("length", `the file is ${length > stated ? "longer" : "shorter"} than stated`);
}

function checkDigest(digest: Uint8Array, stated: Uint8Array): void {
  if (!equalBytes(digest, stated)) throw damaged("digest", "the file is not the one that was signed");
}

import { readPieces, type ByteSource, type Pieces } from "./byte-source.ts";
import { concatBytes, equalBytes } from "./bytes.ts";
import { CryptoError } from "./errors.ts";
import { claimPlan, encodeFileStart, type FilePlan } from "./file-plan.ts";
import { encryptChunks } from "./message-stream.ts";
import { paddingBetween } from "./padding.ts";
import type { CryptoPlatform, RunningDigest } from "./platform/platform.ts";
import { plaintextSize } from "./sizes.ts";

export interface EncryptFileOptions {
  readonly signal?: AbortSignal;
  /** Gets the message (salt, commitment, chunks) as it is made: its SHA-256 is the `digest` of a version statement. */
  readonly digest?: RunningDigest;
  /** Less memory: a piece is valid only until the one after the next is asked for. For callers with one write under way at most. */
  readonly reuseBuffer?: boolean;
}

/**
 * The file's bytes from the first to the last, in constant memory. It reads the next piece of content when the last
 * result was taken. Works once per plan, as a second reading may find another content (file-format §5). To send bytes
 * again, keep them, or make them with `encryptPart`. Throws CryptoError source_changed when the content does not have
 * the planned size, and the signal's reason.
 */
export function encryptFile(
  plan: FilePlan,
  content: ByteSource,
  options: EncryptFileOptions = {},
): AsyncGenerator<Uint8Array, void, void> {
  claimPlan(plan);
  return fileBytes(plan, content, options);
}

/** A file that is in memory as a whole, and the SHA-256 of its message. */
export interface EncryptedFile {
  readonly bytes: Uint8Array;
  readonly digest: Uint8Array;
}

/**
 * The same for content that is in memory as a whole, in one step. For small files a stream's steps would cost more than
 * the bytes. Rejects as `encryptFile` throws.
 */
export async function encryptFileBytes(
  platform: CryptoPlatform,
  plan: FilePlan,
  content: Uint8Array,
): Promise<EncryptedFile> {
  claimPlan(plan);
  const { contentSize, fileSize, messageSize, padded, payloadOffset } = plan;
  if (fileSize === null || messageSize === null || contentSize === null)
    throw new TypeError("a content of unknown size is encrypted as it comes");
  if (content.length !== contentSize)
    throw sourceChanged(`the content is ${content.length > contentSize ? "longer" : "shorter"} than planned`);
  const padding = padded ? [...paddingBetween(contentSize, contentSize, plaintextSize(messageSize))] : [];
  const plaintext = padding.length === 0 ? content : concatBytes(content, ...padding);
  const bytes = new Uint8Array(fileSize);
  const start = encodeFileStart(plan);
  bytes.set(start);
  let filled = start.length;
  for (const piece of await plan.keys.encryptPieces(plaintext, 0, true)) {
    bytes.set(piece, filled);
    filled += piece.length;
  }
  return { bytes, digest: platform.sha256(bytes.subarray(payloadOffset)) };
}

async function* fileBytes(
  plan: FilePlan,
  content: ByteSource,
  { digest, reuseBuffer = false, signal }: EncryptFileOptions,
): AsyncGenerator<Uint8Array, void, void> {
  const start = encodeFileStart(plan);
  digest?.update(start.subarray(plan.payloadOffset));
  yield start;
  for await (const blocks of encryptChunks(plan.keys, plaintextOf(plan, content, signal), { reuseBuffer })) {
    digest?.update(blocks);
    yield blocks;
  }
}

/**
 * Encrypts without keeping anything: the SHA-256 of the message that `encryptFile` will make of the same content. For
 * statements that are signed before the file is sent; `encryptFileAgain` then compares the second pass with it.
 */
export async function digestMessage(
  platform: CryptoPlatform,
  plan: FilePlan,
  content: ByteSource,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const digest = platform.createSha256();
  for await (const _ of fileBytes(plan, content, { digest, reuseBuffer: true, ...(signal && { signal }) })) continue;
  return digest.digest();
}

/**
 * Like `encryptFile`, with the digest of an earlier pass over the same content. The last piece comes only if the whole
 * message has that digest, else CryptoError source_changed. So nobody ever receives a whole file that contradicts its
 * statement.
 */
export function encryptFileAgain(
  platform: CryptoPlatform,
  plan: FilePlan,
  content: ByteSource,
  expected: Uint8Array,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  claimPlan(plan);
  return checkedByDigest(platform, plan, content, expected, signal);
}

async function* checkedByDigest(
  platform: CryptoPlatform,
  plan: FilePlan,
  content: ByteSource,
  expected: Uint8Array,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, void> {
  const digest = platform.createSha256();
  let lastPiece: Uint8Array | null = null;
  for await (const piece of fileBytes(plan, content, { digest, ...(signal && { signal }) })) {
    if (lastPiece !== null) yield lastPiece;
    lastPiece = piece;
  }
  if (!equalBytes(digest.digest(), expected)) throw sourceChanged("the content changed since it was read first");
  if (lastPiece !== null) yield lastPiece;
}

/** The content and, in a padded file, the padding. */
async function* plaintextOf(
  plan: FilePlan,
  content: ByteSource,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, void> {
  const { contentSize, messageSize } = plan;
  if (contentSize === null || messageSize === null) {
    yield* readPieces(content, signal);
    return;
  }
  yield* exactly(contentSize, readPieces(content, signal));
  if (plan.padded) yield* paddingBetween(contentSize, contentSize, plaintextSize(messageSize));
}

/** Passes a source on and checks its size. */
export async function* exactly(size: number, pieces: Pieces): AsyncGenerator<Uint8Array, void, void> {
  let seen = 0;
  for await (const piece of pieces) {
    seen += piece.length;
    if (seen > size) throw sourceChanged("the content is longer than planned");
    yield piece;
  }
  if (seen < size) throw sourceChanged("the content is shorter than planned");
}

export function sourceChanged(message: string): CryptoError {
  return new CryptoError("source_changed", "source", message);
}

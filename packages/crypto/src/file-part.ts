import { readPieces, type ByteSource } from "./byte-source.ts";
import { concatBytes, encodeText, encodeU64, equalBytes } from "./bytes.ts";
import { exactly, sourceChanged } from "./encrypt-file.ts";
import { chunksOffset, claimForParts, encodeFileStart, type FilePlan } from "./file-plan.ts";
import { MAX_FILE_START_BYTES } from "./file-start.ts";
import { encryptChunksInto } from "./message-stream.ts";
import { paddingBetween } from "./padding.ts";
import { BLOCK_BYTES, CHUNK_BYTES, TAG_BYTES, type CryptoPlatform } from "./platform/platform.ts";
import { plaintextSize } from "./sizes.ts";

/** Memory holds a whole part: at most 64 MiB of content. */
export const MAX_PART_CHUNKS = 4096;

/** Content bytes `from` to `to` (exclusive). */
export type ReadContent = (from: number, to: number) => ByteSource;

/** A journal's record of a part before it is sent; no secret. */
export interface PartRecord {
  readonly firstChunk: number;
  /** One behind the last. */
  readonly endChunk: number;
  /** SHA-256 over the GCM tags of the part's chunks (file-format §5). */
  readonly tagDigest: Uint8Array;
}

export interface EncryptedPart {
  /** Where its bytes begin in the file. */
  readonly fileOffset: number;
  /** Chunks as stored; the first part begins with the file's start. */
  readonly bytes: Uint8Array;
  readonly record: PartRecord;
}

/** The bytes of the largest part of so many chunks. Throws RangeError unless it is 1 to `MAX_PART_CHUNKS`. */
export function partCapacity(chunks: number): number {
  if (!(chunks >= 1 && chunks <= MAX_PART_CHUNKS)) throw new RangeError(`a part has 1 to ${MAX_PART_CHUNKS} chunks`);
  return MAX_FILE_START_BYTES + chunks * BLOCK_BYTES;
}

export interface EncryptPartOptions {
  readonly signal?: AbortSignal;
  /**
   * Memory for the part's bytes, of at least `partCapacity`, for one part after the other: each part's bytes are valid
   * until the next. Absent: they are the caller's for good.
   */
  readonly buffer?: Uint8Array;
}

/** Chunks of a planned file, the short final one included. Throws TypeError when the content's size is not known. */
export function chunkCount(plan: FilePlan): number {
  return Math.floor(plannedPlaintext(plan) / CHUNK_BYTES) + 1;
}

/** Where the part from `firstChunk` on begins in the file; for one behind the last chunk, where the file ends. */
export function partOffset(plan: FilePlan, firstChunk: number): number {
  if (firstChunk === 0) return 0;
  const end = chunksOffset(plan) + plannedPlaintext(plan) + chunkCount(plan) * TAG_BYTES;
  return Math.min(chunksOffset(plan) + firstChunk * BLOCK_BYTES, end);
}

/**
 * Encrypts chunks `firstChunk` to `endChunk` into memory. Put its record where a crash cannot lose it before you send
 * the first byte. Send these very bytes again when sending fails. After a crash `reencryptPart` makes them again.
 * Throws CryptoError source_changed for less or more content than asked for, or other content than before. Throws
 * RangeError for chunks that the file does not have, more than `MAX_PART_CHUNKS`, or other parts than before. Also
 * throws when the plan has encrypted a whole file.
 */
export async function encryptPart(
  platform: CryptoPlatform,
  plan: FilePlan,
  readContent: ReadContent,
  firstChunk: number,
  endChunk: number,
  { buffer, signal }: EncryptPartOptions = {},
): Promise<EncryptedPart> {
  checkPart(plan, firstChunk, endChunk);
  claimForParts(plan);
  const fileOffset = partOffset(plan, firstChunk);
  const length = partOffset(plan, endChunk) - fileOffset;
  const bytes = (buffer ?? new Uint8Array(length)).subarray(0, length);
  const start = firstChunk === 0 ? encodeFileStart(plan) : new Uint8Array(0);
  bytes.set(start);
  const plaintext = partPlaintext(plan, readContent, firstChunk, endChunk, signal);
  const unfinished = endChunk < chunkCount(plan);
  await encryptChunksInto(bytes.subarray(start.length), plan.keys, plaintext, { firstChunk, unfinished });
  const tagDigest = digestTags(platform, plan, bytes.subarray(start.length), firstChunk, endChunk);
  const record = { firstChunk, endChunk, tagDigest };
  requireSameParts(plan, record);
  return { fileOffset, bytes, record };
}

/** In the order of the file; no two of them share a chunk. */
const encryptedParts = new WeakMap<FilePlan, PartRecord[]>();

/** Also within one process a chunk has one content only. */
function requireSameParts(plan: FilePlan, record: PartRecord): void {
  const parts = encryptedParts.get(plan) ?? [];
  encryptedParts.set(plan, parts);
  const at = indexOfFirstEndingAfter(parts, record.firstChunk);
  const other = parts[at];
  if (other === undefined || other.firstChunk >= record.endChunk) {
    parts.splice(at, 0, record);
    return;
  }
  if (other.firstChunk !== record.firstChunk || other.endChunk !== record.endChunk)
    throw new RangeError("a file is cut into the same parts every time");
  if (!equalBytes(other.tagDigest, record.tagDigest))
    throw sourceChanged("the content changed since a part of it was encrypted");
}

function indexOfFirstEndingAfter(parts: readonly PartRecord[], chunk: number): number {
  let [low, high] = [0, parts.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((parts[middle]?.endChunk ?? 0) > chunk) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Encrypts a part again after a crash. Throws CryptoError source_changed when any of its chunks differs from the one
 * made before. Then send nothing of it: give the version up, and begin a new one with a new key.
 */
export async function reencryptPart(
  platform: CryptoPlatform,
  plan: FilePlan,
  readContent: ReadContent,
  record: PartRecord,
  options?: EncryptPartOptions,
): Promise<EncryptedPart> {
  const part = await encryptPart(platform, plan, readContent, record.firstChunk, record.endChunk, options);
  if (!equalBytes(part.record.tagDigest, record.tagDigest))
    throw sourceChanged("the content changed since a part of it was encrypted");
  return part;
}

/** The content of the part's chunks, and padding behind its end. */
async function* partPlaintext(
  plan: FilePlan,
  readContent: ReadContent,
  firstChunk: number,
  endChunk: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, void> {
  const contentSize = plan.contentSize ?? 0;
  const from = firstChunk * CHUNK_BYTES;
  const to = Math.min(endChunk * CHUNK_BYTES, plannedPlaintext(plan));
  const contentEnd = Math.min(to, contentSize);
  if (from < contentEnd) yield* exactly(contentEnd - from, readPieces(readContent(from, contentEnd), signal));
  if (plan.padded) yield* paddingBetween(contentSize, from, to);
}

/** Bound to the salt and to the place, so that a record fits no other part. */
function digestTags(
  platform: CryptoPlatform,
  plan: FilePlan,
  blocks: Uint8Array,
  firstChunk: number,
  endChunk: number,
): Uint8Array {
  const digest = platform.createSha256();
  digest.update(concatBytes(encodeText("coffer/part-tags/v1"), Uint8Array.of(0), plan.keys.salt));
  digest.update(concatBytes(encodeU64(firstChunk), encodeU64(endChunk)));
  for (let at = 0; at < endChunk - firstChunk; at += 1) {
    const end = Math.min((at + 1) * BLOCK_BYTES, blocks.length);
    digest.update(blocks.subarray(end - TAG_BYTES, end));
  }
  return digest.digest();
}

function checkPart(plan: FilePlan, firstChunk: number, endChunk: number): void {
  const whole = Number.isSafeInteger(firstChunk) && Number.isSafeInteger(endChunk);
  if (!whole || firstChunk < 0 || firstChunk >= endChunk || endChunk > chunkCount(plan))
    throw new RangeError(`the file has no chunks ${firstChunk} to ${endChunk}`);
  if (endChunk - firstChunk > MAX_PART_CHUNKS) throw new RangeError(`a part has at most ${MAX_PART_CHUNKS} chunks`);
}

function plannedPlaintext(plan: FilePlan): number {
  if (plan.messageSize === null) throw new TypeError("a content of unknown size has no parts");
  return plaintextSize(plan.messageSize);
}

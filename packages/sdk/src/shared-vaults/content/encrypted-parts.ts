/** The bytes of an encrypted file as an upload reads them, made part by part from the plaintext. */
import {
  CHUNK_BYTES,
  chunkCount,
  CryptoError,
  encryptPart,
  partCapacity,
  reencryptPart,
  type CryptoPlatform,
  type EncryptedPart,
  type FilePlan,
  type PartRecord,
} from "@coffer/crypto";
import { toHex } from "../../transfer/digest.ts";
import type { Source } from "../../transfer/source.ts";
import { readContent, readingBuffer } from "./plaintext.ts";

/** Chunks of one part: 8 MiB of content. */
export const PART_CHUNKS = 512;

/** What must survive a crash (file-format §5): which bytes were made of which part, before any of them is sent. */
export interface PartJournal {
  /** The record of a part made before; null: there is none. */
  find(firstChunk: number): PartRecord | null;
  /** Durable when it resolves. */
  note(record: PartRecord): Promise<void>;
}

export interface EncryptedSourceOptions {
  readonly journal?: PartJournal | undefined;
  /** Chunks of one part; the same for all attempts at one version. */
  readonly partChunks?: number | undefined;
  /** SHA-256 of the message, when its statement names one: the last part comes only when the whole has it. */
  readonly digest?: Uint8Array | null | undefined;
  /** Runs before the last of several parts is made: if it throws, the file is never whole elsewhere. */
  readonly beforeEnd?: (() => Promise<void>) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads forward; one part is in memory. A part in the journal must come out the same again. If not, it throws
 * `source_changed` and sends nothing of it. The content stays open: another attempt may read it.
 */
export function encryptedSource(
  platform: CryptoPlatform,
  plan: FilePlan,
  content: Source,
  options: EncryptedSourceOptions = {},
): Source {
  const openPart = partOpener(platform, plan, content, options);
  let part: OpenPart | null = null;
  const turnTo = async (index: number): Promise<OpenPart> => {
    // All parts lie in one memory: if the next one fails, the one before is gone.
    part = null;
    return (part = await openPart(index));
  };
  return {
    size: plan.fileSize,
    readsAhead: content.readsAhead === true,
    read: async (offset, target) => {
      let filled = 0;
      while (filled < target.length && offset + filled < (plan.fileSize ?? 0)) {
        const at = offset + filled;
        if (part === null || at < part.fileOffset) part = await turnTo(0);
        while (at >= part.fileOffset + part.bytes.length) part = await turnTo(part.index + 1);
        const slice = part.bytes.subarray(at - part.fileOffset, at - part.fileOffset + target.length - filled);
        target.set(slice, filled);
        filled += slice.length;
      }
      return filled;
    },
    close: () => Promise.resolve(),
  };
}

type OpenPart = EncryptedPart & { readonly index: number };

/**
 * Reads and makes all parts in the same two buffers: memory stays at a part's size. A buffer for each part would wait
 * for the garbage collector, which leaves tens of MiB of them.
 */
function partOpener(
  platform: CryptoPlatform,
  plan: FilePlan,
  content: Source,
  { journal, partChunks = PART_CHUNKS, digest, beforeEnd, signal }: EncryptedSourceOptions,
): (index: number) => Promise<OpenPart> {
  const chunks = chunkCount(plan);
  const check = digestChecker(platform, plan, digest ?? null);
  let reading: Uint8Array | null = null;
  const read = (from: number, to: number) => {
    reading ??= readingBuffer(Math.min(partChunks * CHUNK_BYTES, content.size ?? Infinity));
    return readContent(content, from, to, reading);
  };
  let buffer: Uint8Array | null = null;
  return async (index) => {
    buffer ??= new Uint8Array(Math.min(partCapacity(partChunks), plan.fileSize ?? 0));
    const options = { buffer, ...(signal === undefined ? {} : { signal }) };
    const firstChunk = index * partChunks;
    const endChunk = Math.min(firstChunk + partChunks, chunks);
    if (index > 0 && endChunk === chunks) await beforeEnd?.();
    const known = journal?.find(firstChunk) ?? null;
    const made =
      known === null
        ? await encryptPart(platform, plan, read, firstChunk, endChunk, options)
        : await reencryptPart(platform, plan, read, known, options);
    check(made, index);
    if (known === null) await journal?.note(made.record);
    return { ...made, index };
  };
}

/** Compares the parts, as they are made in order, with the digest of an earlier pass over the same content. */
function digestChecker(
  platform: CryptoPlatform,
  plan: FilePlan,
  expected: Uint8Array | null,
): (part: EncryptedPart, index: number) => void {
  if (expected === null) return () => undefined;
  const hash = platform.createSha256();
  let next = 0;
  return ({ fileOffset, bytes }, index) => {
    if (index !== next) return;
    next += 1;
    hash.update(index === 0 ? bytes.subarray(plan.payloadOffset) : bytes);
    if (fileOffset + bytes.length === plan.fileSize && toHex(hash.digest()) !== toHex(expected))
      throw new CryptoError("source_changed", "source", "the content changed since it was read first");
  };
}

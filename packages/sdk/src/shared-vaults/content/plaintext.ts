/** The plaintext of an upload: its size, whether it can be read again, and its digest. */
import type { CryptoPlatform } from "@coffer/crypto";
import { ContractError } from "../../http/errors.ts";
import { openSource, otherSize, type Source } from "../../transfer/source.ts";
import { WHOLE_BYTES } from "../../transfer/upload-options.ts";

/** Content up to this size is encrypted in memory: one pass makes digest and bytes. */
const MEMORY_BYTES = 4 * 1024 * 1024;

export interface Plaintext {
  readonly source: HashedSource;
  /** Bytes. */
  readonly size: number;
  /** Can be read from the beginning again. */
  readonly rereadable: boolean;
  /** All of it; null: it is not in memory. */
  readonly bytes: Uint8Array | null;
}

/** A source with the digest of its content. One that is not in memory must be read from the beginning forward. */
export interface HashedSource extends Source {
  /**
   * SHA-256 of the content. It reads what nobody has read yet.
   * @throws SdkError `source_changed` if the content ends early.
   */
  digest(): Promise<Uint8Array>;
}

export interface PlaintextOptions {
  /** The upload is kept over a crash. */
  readonly journaled: boolean;
}

/**
 * Reads small content into memory unless it is `journaled`. It reads a stream of unknown size up to 8 MiB. A longer
 * one needs its size, because a signed statement names the size before the first byte is sent.
 * @throws SdkError `source_changed`.
 */
export async function openPlaintext(
  source: Source,
  platform: CryptoPlatform,
  { journaled }: PlaintextOptions,
): Promise<Plaintext> {
  const { size } = source;
  if (size !== null && (journaled || size > MEMORY_BYTES))
    return { source: hashingSource(source, size, platform), size, rereadable: source.rereadable === true, bytes: null };
  const buffer = new Uint8Array((source.size ?? WHOLE_BYTES) + 1);
  const filled = await source.read(0, buffer);
  if (source.size === null && filled === buffer.length)
    throw new ContractError("request", "files.upload", ["size: needed for a stream above 8 MiB in a shared vault"]);
  if (source.size !== null && filled !== source.size) throw otherSize(source.size);
  const bytes = buffer.subarray(0, filled);
  return { source: memorySource(bytes, platform), size: filled, rereadable: true, bytes };
}

/** Hashed in one step, when the digest is asked for. */
function memorySource(bytes: Uint8Array, platform: CryptoPlatform): HashedSource {
  let digest: Uint8Array | null = null;
  return { ...openSource(bytes), digest: () => Promise.resolve((digest ??= platform.sha256(bytes))) };
}

function hashingSource(source: Source, size: number, platform: CryptoPlatform): HashedSource {
  const hash = platform.createSha256();
  let position = 0;
  let digest: Uint8Array | null = null;
  const read: Source["read"] = async (offset, target) => {
    const filled = await source.read(offset, target);
    // A second pass, and a read after a failure, cover bytes that were hashed before.
    if (offset <= position && offset + filled > position) {
      hash.update(target.subarray(position - offset, filled));
      position = offset + filled;
    }
    return filled;
  };
  // An upload that an earlier process finished sends nothing, so nothing was read.
  const readRest = async (): Promise<void> => {
    for await (const _ of readPlaintext({ ...source, read }, position, size)) continue;
    if (position !== size) throw otherSize(size);
  };
  return {
    ...source,
    read,
    digest: async () => {
      if (digest !== null) return digest;
      await readRest();
      return (digest = hash.digest());
    },
  };
}

const READ_BYTES = 1024 * 1024;

/** Memory for successive reads of so much content. */
export function readBuffer(length: number): Uint8Array {
  return new Uint8Array(Math.min(READ_BYTES, length));
}

/**
 * Bytes `from` to `to` (exclusive). A piece is valid until the next is asked for: all lie in `buffer`. The reader that
 * counts reports missing bytes: the plan says how many there must be.
 */
export async function* readPlaintext(
  source: Source,
  from: number,
  to: number,
  buffer = readBuffer(to - from),
): AsyncGenerator<Uint8Array, void, undefined> {
  for (let offset = from; offset < to;) {
    const filled = await source.read(offset, buffer.subarray(0, Math.min(buffer.length, to - offset)));
    if (filled === 0) return;
    yield buffer.subarray(0, filled);
    offset += filled;
  }
}

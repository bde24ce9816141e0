/** Whole files of shared vaults: small ones in one step, others as they come. */
import { decryptFile, decryptFileBytes, type FileStart, type RangeKey } from "@coffer/crypto";
import { copyable } from "../../http/byte-body.ts";
import { openStored, type Download, type StoredDownload } from "../../transfer/stored-download.ts";
import { counted, describe, factsOf, otherSize, unlock, type Reading } from "./version-reader.ts";
import { lazyDownload } from "./lazy-download.ts";
import { inVaultTerms } from "../vault-terms.ts";

/**
 * Stored files up to this size are read into memory and decrypted in one step. The steps of a stream would cost more
 * than the bytes. In bytes; memory holds at most twice of it.
 */
const SMALL_BYTES = 256 * 1024;

/** `given`: the stored bytes, when they are on their way already. */
export async function openWhole(reading: Reading, given: StoredDownload | null): Promise<Download> {
  const { connection, file, metadata, options } = reading;
  const { signal, retries } = options;
  const stored = given ?? (await openStored(connection, file.id, { signal, retries }, file.versionId));
  const range = { offset: 0, length: metadata.size };
  const { size } = stored.download;
  if (size <= SMALL_BYTES)
    return lazyDownload(
      factsOf(reading, range),
      () => readSmall(reading, stored, size),
      () => stored.download.stream.cancel(),
    );
  return describe(reading, range, decrypted(reading, stored.download.stream));
}

/** Gives no byte before all of it is true. It reads without a stream, whose steps take longer than the cipher. */
async function readSmall(reading: Reading, stored: StoredDownload, size: number): Promise<Uint8Array<ArrayBuffer>> {
  const { vault, metadata, options } = reading;
  const bytes = new Uint8Array(size);
  let filled = 0;
  try {
    for (let piece = await stored.read(); piece !== null; piece = await stored.read()) {
      // It refuses more than the answer announced, so they fit.
      bytes.set(piece, filled);
      filled += piece.length;
    }
  } catch (error) {
    return refuse(reading, bytes.subarray(0, filled), error);
  }
  options.signal?.throwIfAborted();
  const unlocking = (start: FileStart): Promise<RangeKey> => unlock(reading, start);
  const content = await inVaultTerms(() => decryptFileBytes(vault.platform, bytes.subarray(0, filled), unlocking));
  if (content.length !== metadata.size) throw otherSize();
  options.onProgress?.({ bytes: content.length, total: content.length });
  return copyable(content);
}

/** The bytes before the break may be wrong already. That is reported first, in the order of reading, as a stream would. */
async function refuse(reading: Reading, came: Uint8Array, error: unknown): Promise<never> {
  for await (const _ of decrypted(reading, replay(came, error))) continue;
  throw error;
}

async function* replay(came: Uint8Array, error: unknown): AsyncGenerator<Uint8Array, void, void> {
  yield came;
  throw error;
}

/** The content piece by piece, each authentic when it is given. */
function decrypted(
  reading: Reading,
  stored: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, void> {
  const { vault, metadata, options } = reading;
  const { reuseBuffer = false, signal } = options;
  const content = decryptFile(vault.platform, stored, {
    unlock: (start) => unlock(reading, start),
    reuseBuffer,
    ...(signal === undefined ? {} : { signal }),
  });
  return counted(reading, content, metadata.size);
}

/** New files of any size, on the disk when they are done. */
import type { Hash } from "node:crypto";
import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";

/** Pieces come in the size of the network or the cipher: the disk gets larger ones. */
const BLOCK_BYTES = 1024 * 1024;
/** Files from this size on go past the cache of the system, where it can be. */
const DIRECT_FROM = 16 * BLOCK_BYTES;

export interface NewFile {
  /** Gets all bytes. */
  readonly hash: Hash | null;
  /** The expected number of bytes. */
  readonly length: number;
}

/** Makes a file of mode 0600 that is not there yet. It is on the disk when this resolves with the number of bytes. */
export async function writeNewFile(
  path: string,
  stream: AsyncIterable<Uint8Array>,
  { hash, length }: NewFile,
): Promise<number> {
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    const direct = length < DIRECT_FROM ? null : await openDirect(file);
    try {
      const bytes = await writeAll(stream, { file, direct, hash });
      await file.sync();
      return bytes;
    } finally {
      await direct?.close();
    }
  } finally {
    await file.close();
  }
}

/**
 * The same file, opened so that whole blocks go to the disk without a copy in the cache. There is little to wait for then at
 * the end, and the system has less work. Null where this cannot be: other systems than Linux, and some file systems.
 */
async function openDirect(file: FileHandle): Promise<FileHandle | null> {
  if (process.platform !== "linux") return null;
  const path = `/proc/self/fd/${String(file.fd)}`;
  return await open(path, constants.O_WRONLY | constants.O_DIRECT).catch(() => null);
}

/** One fills while the others are written: the disk then has the next block when it is done with one. */
const BLOCKS = 4;

/** Those of files that were written at once before; what is more goes. */
const idle: ArrayBuffer[] = [];
const MOST_IDLE = 4;

/** Direct writes want addresses that a page begins at. Nothing else in JavaScript has such. */
function makeBlocks(): ArrayBuffer {
  return new WebAssembly.Memory({ initial: (BLOCKS * BLOCK_BYTES) / 65_536 }).buffer;
}

/** Where the bytes go. */
export interface WriteTarget extends Pick<NewFile, "hash"> {
  readonly file: FileHandle;
  readonly direct: FileHandle | null;
}

/** Returns the number of bytes. One block fills while those before are written. */
export async function writeAll(
  stream: AsyncIterable<Uint8Array>,
  { file, direct, hash }: WriteTarget,
): Promise<number> {
  const memory = idle.pop() ?? makeBlocks();
  const writing: Promise<void>[] = [];
  let filling = new Uint8Array(memory, 0, BLOCK_BYTES);
  let whole = direct;
  let total = 0;
  let filled = 0;
  const write = async (block: Uint8Array, position: number): Promise<void> => {
    const used = whole;
    try {
      await writeBytes(used ?? file, block, position);
    } catch (error) {
      if (used === null) throw error;
      // Some file systems refuse only the write. What is wrong with the disk itself shows again.
      whole = null;
      await writeBytes(file, block, position);
    }
  };
  try {
    for await (const piece of stream) {
      hash?.update(piece);
      for (let at = 0; at < piece.length;) {
        const part = piece.subarray(at, at + filling.length - filled);
        filling.set(part, filled);
        filled += part.length;
        total += part.length;
        at += part.length;
        if (filled < filling.length) continue;
        const written = write(filling, total - filled);
        // A failure is for the next block that waits.
        written.catch(() => undefined);
        if (writing.push(written) === BLOCKS) await writing.shift();
        filling = new Uint8Array(memory, (filling.byteOffset + BLOCK_BYTES) % memory.byteLength, BLOCK_BYTES);
        filled = 0;
      }
    }
    await Promise.all(writing);
    await writeBytes(file, filling.subarray(0, filled), total - filled);
  } finally {
    // The caller closes the file.
    await Promise.allSettled(writing);
    if (idle.length < MOST_IDLE) idle.push(memory);
  }
  return total;
}

async function writeBytes(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let offset = 0; offset < bytes.length;)
    offset += (await file.write(bytes, offset, bytes.length - offset, position + offset)).bytesWritten;
}

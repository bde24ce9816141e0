/** New files of any size, on the disk when they are done. */
import type { Hash } from "node:crypto";
import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";

/** Pieces come in the size of the network or the cipher: the disk gets larger ones. */
const BLOCK_BYTES = 1024 * 1024;

/**
 * Makes a file of mode 0600 that is not there yet. It is on the disk when this resolves with the number of bytes. `hash` gets all bytes; null:
 * nobody asks for a digest. A piece is copied before the next is asked for.
 */
export async function writeNewFile(
  path: string,
  stream: AsyncIterable<Uint8Array>,
  hash: Hash | null,
): Promise<number> {
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    const bytes = await writeAll(file, stream, hash);
    await file.sync();
    return bytes;
  } finally {
    await file.close();
  }
}

/** Answers the number of bytes. */
async function writeAll(file: FileHandle, stream: AsyncIterable<Uint8Array>, hash: Hash | null): Promise<number> {
  const block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  let filled = 0;
  let total = 0;
  for await (const piece of stream) {
    hash?.update(piece);
    for (let at = 0; at < piece.length;) {
      const part = piece.subarray(at, at + block.length - filled);
      block.set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled < block.length) continue;
      await file.writeFile(block);
      total += filled;
      filled = 0;
    }
  }
  await file.writeFile(block.subarray(0, filled));
  return total + filled;
}

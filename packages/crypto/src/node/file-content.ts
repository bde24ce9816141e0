import type { FileHandle } from "node:fs/promises";
import type { ReadContent } from "../file-part.ts";

/** Each piece is a trip to another thread, and two are in memory. */
const PIECE_BYTES = 1024 * 1024;

/**
 * The content of an open file, for `encryptPart`, or from 0 to its size for `encryptFile`. The next piece is read
 * while the last is in work. All pieces lie in two buffers, so only one reading may run at a time, as in the
 * encrypting functions. Ends early if the file does.
 */
export function readContentOf(file: FileHandle): ReadContent {
  const buffers = [new Uint8Array(PIECE_BYTES), new Uint8Array(PIECE_BYTES)] as const;
  return async function* pieces(from, to) {
    const read = async (at: number, buffer: Uint8Array) => {
      const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, to - at), at);
      return buffer.subarray(0, bytesRead);
    };
    let [current, other] = buffers;
    let next = read(from, current);
    try {
      for (let at = from; ;) {
        const piece = await next;
        if (piece.length === 0) return;
        at += piece.length;
        [current, other] = [other, current];
        next = read(at, current);
        // Read when its turn comes; nobody handles a failure before that.
        next.catch(() => undefined);
        yield piece;
      }
    } finally {
      // Nobody may close the file during a read.
      await next.catch(() => undefined);
    }
  };
}

async function writeAll(file: FileHandle, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.length;) at += (await file.write(piece, at, piece.length - at, null)).bytesWritten;
}

/**
 * Writes pieces in order from the file's present position. The next piece is made while the last is written, which
 * `reuseBuffer` allows. Returns how many bytes were written. Written bytes stay when it fails.
 */
export async function writePieces(file: FileHandle, pieces: AsyncIterable<Uint8Array>): Promise<number> {
  let written = 0;
  let writing: Promise<void> = Promise.resolve();
  try {
    for await (const piece of pieces) {
      await writing;
      written += piece.length;
      writing = writeAll(file, piece);
      writing.catch(() => undefined);
    }
    await writing;
    return written;
  } finally {
    // Nobody may close the file during a write.
    await writing.catch(() => undefined);
  }
}

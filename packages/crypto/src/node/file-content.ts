import type { FileHandle } from "node:fs/promises";
import type { ReadContent } from "../file-part.ts";

const PIECE_BYTES = 256 * 1024;

/**
 * The content of an open file, for `encryptPart`, or from 0 to its size for `encryptFile`. All pieces lie in one buffer, so one reading at
 * a time: what the encrypting functions do. Ends early where the file does.
 */
export function readContentOf(file: FileHandle): ReadContent {
  const buffer = new Uint8Array(PIECE_BYTES);
  return async function* pieces(from, to) {
    for (let at = from; at < to;) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, to - at), at);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
      at += bytesRead;
    }
  };
}

import { open, type FileHandle } from "node:fs/promises";

const CHUNK_BYTES = 1 << 20;

/** Whether two files hold the same bytes, to the last one. Throws the file system's error when one cannot be read. */
export async function equalFiles(first: string, second: string): Promise<boolean> {
  await using a = await open(first);
  await using b = await open(second);
  const [left, right] = [Buffer.alloc(CHUNK_BYTES), Buffer.alloc(CHUNK_BYTES)];
  for (let position = 0; ; position += CHUNK_BYTES) {
    const [m, n] = await Promise.all([fill(a, left, position), fill(b, right, position)]);
    if (m !== n || !left.subarray(0, m).equals(right.subarray(0, n))) return false;
    if (m < CHUNK_BYTES) return true;
  }
}

/** A read may bring less than asked for before the end. */
async function fill(file: FileHandle, target: Buffer, position: number): Promise<number> {
  let filled = 0;
  while (filled < target.length) {
    const { bytesRead } = await file.read(target, filled, target.length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}

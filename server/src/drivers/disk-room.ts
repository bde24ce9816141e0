/** Asks the file system that a directory is on how much room it has. */
import { statfs } from "node:fs/promises";
import type { DiskRoom } from "../ports/disk-room.ts";

/** Rejects when the directory is not there. */
export async function readDiskRoom(directory: string, reserveBytes: number): Promise<DiskRoom> {
  const { bavail, bfree, blocks, bsize } = await statfs(directory);
  return { freeBytes: bavail * bsize, sizeBytes: (blocks - bfree + bavail) * bsize, reserveBytes };
}

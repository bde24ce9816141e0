/**
 * Several small blobs at once. Their flushes run side by side, and the kernel makes one of many. Each directory is flushed once for all of
 * its names.
 */
import { hash } from "node:crypto";
import type { BlobKey, BlobReceipt, SmallBlob } from "../../../ports/blob-store.ts";
import type { FileSystem } from "./file-system.ts";
import type { Health } from "./health.ts";
import type { Layout } from "./layout.ts";
import { inLanes } from "../lanes.ts";

export interface Storing {
  readonly files: FileSystem;
  readonly layout: Layout;
  readonly health: Health;
  /** What this process is writing: nobody clears it away meanwhile. */
  readonly writing: Set<BlobKey>;
}

/** Durable under all keys when it resolves; after a rejection nothing is readable under any. */
export async function storeTogether(blobs: readonly SmallBlob[], storing: Storing): Promise<BlobReceipt[]> {
  const { files, layout, health, writing } = storing;
  for (const { key } of blobs) writing.add(key);
  const named: BlobKey[] = [];
  try {
    await inLanes(blobs, async (blob) => {
      await writeTemporary(blob, storing);
      await health.guard(files.link(layout.temporary(blob.key), layout.blob(blob.key)));
      named.push(blob.key);
    });
    const directories = new Set(blobs.map(({ key }) => layout.blobDirectory(key)));
    await inLanes([...directories], (directory) => health.flush(files.flushDirectory(directory)));
    return blobs.map(({ bytes }) => ({ size: bytes.length, sha256: hash("sha256", bytes, "hex") }));
  } catch (error) {
    await inLanes(named, (key) => files.remove(layout.blob(key)).catch(ignore));
    throw error;
  } finally {
    await inLanes(blobs, ({ key }) => files.remove(layout.temporary(key)).catch(ignore));
    for (const { key } of blobs) writing.delete(key);
  }
}

async function writeTemporary({ key, bytes }: SmallBlob, { files, layout, health }: Storing): Promise<void> {
  const file = await health.guard(files.create(layout.temporary(key)));
  try {
    await health.guard(file.write(bytes, 0));
    await health.flush(file.flush());
  } finally {
    await file.close().catch(ignore);
  }
}

/** Whatever stays is cleaned up later, as after a crash; the bytes are durable or refused by now. */
function ignore(): void {}

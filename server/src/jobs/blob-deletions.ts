/** Deletes the blobs that no row needs any more; the rows that gave them up queued them in their own transaction. */
import type { BlobDeletionRow } from "../ports/tables.ts";
import { deleteFromQueue, keysIn, listDueDeletions } from "./store.ts";
import type { JobDeps } from "./job-deps.ts";

type Deleting = Pick<JobDeps, "database" | "blobs" | "clock" | "log">;

/** First the bytes, then the queue's row: a crash in between repeats a deletion, which is harmless. */
export async function deleteQueuedBlobs(
  deps: Deleting,
  signal: AbortSignal,
): Promise<{ deleted: number; failed: number }> {
  const total = { deleted: 0, failed: 0 };
  let after = "";
  while (!signal.aborted) {
    const rows = await listDueDeletions(deps.database, deps.clock.now(), after);
    if (rows.length === 0) break;
    const gone = await deleteBlobs(deps, rows);
    total.deleted += gone.length;
    total.failed += rows.length - gone.length;
    if (gone.length > 0) {
      await deps.database.transaction((transaction) => deleteFromQueue(transaction, gone), { freesSpace: true });
    }
    after = rows.at(-1)?.blob_key ?? after;
  }
  return total;
}

/** The keys that are gone. One that fails stays in the queue for the next run. */
async function deleteBlobs(deps: Deleting, rows: readonly BlobDeletionRow[]): Promise<string[]> {
  // Never any in a correct server; asked because a deleted blob does not come back.
  const keys = rows.map((row) => row.blob_key);
  const [files, versions] = await Promise.all([
    keysIn(deps.database, "files", keys),
    keysIn(deps.database, "file_versions", keys),
  ]);
  const isUsed = (key: string): boolean => files.has(key) || versions.has(key);
  const failed = new Map(await deps.blobs.removeAll(keys.filter((key) => !isUsed(key))));
  for (const key of keys.filter(isUsed)) failed.set(key, new Error("A file still has this blob"));
  for (const [key, error] of failed) deps.log.error({ err: error, blobKey: key }, "a blob could not be deleted");
  return keys.filter((key) => !failed.has(key));
}

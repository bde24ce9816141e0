/** Deletes the blobs that no row needs any more; the rows that gave them up queued them in their own transaction. */
import { prepared } from "../ports/database.ts";
import type { BlobDeletionRow } from "../ports/tables.ts";
import type { JobDeps } from "./start-jobs.ts";

const BATCH = 200;

const due = prepared((build, value: { now: number; after: string }) =>
  build
    .selectFrom("blob_deletions")
    .selectAll()
    .where("not_before", "<=", value.now)
    .where("blob_key", ">", value.after)
    .orderBy("blob_key")
    .limit(BATCH),
);

type Deleting = Pick<JobDeps, "database" | "blobs" | "clock" | "log">;

/** First the bytes, then the queue's row: a crash in between repeats a deletion, which is no error. */
export async function deleteQueuedBlobs(
  deps: Deleting,
  signal: AbortSignal,
): Promise<{ deleted: number; failed: number }> {
  const total = { deleted: 0, failed: 0 };
  let after = "";
  while (!signal.aborted) {
    const rows = await deps.database.all(due(deps.database, { now: deps.clock.now(), after }));
    if (rows.length === 0) break;
    const gone = await deleteBlobs(deps, rows);
    total.deleted += gone.length;
    total.failed += rows.length - gone.length;
    if (gone.length > 0) await dequeue(deps, gone);
    after = rows.at(-1)?.blob_key ?? after;
  }
  return total;
}

/** The keys that are gone. One that fails stays in the queue for the next run. */
async function deleteBlobs(deps: Deleting, rows: readonly BlobDeletionRow[]): Promise<string[]> {
  const inUse = await keysInUse(deps, rows);
  const gone: string[] = [];
  for (const { blob_key: key } of rows) {
    try {
      if (inUse.has(key)) throw new Error("A file still has this blob");
      await deps.blobs.discard(key);
      await deps.blobs.delete(key);
      gone.push(key);
    } catch (error) {
      deps.log.error({ err: error, blobKey: key }, "a blob could not be deleted");
    }
  }
  return gone;
}

/** Never empty in a correct server; asked because a deleted blob does not come back. */
async function keysInUse(deps: Deleting, rows: readonly BlobDeletionRow[]): Promise<ReadonlySet<string>> {
  const keys = rows.map((row) => row.blob_key);
  const found = await deps.database.all(
    deps.database.build.selectFrom("files").select("blob_key").where("blob_key", "in", keys),
  );
  return new Set(found.map((row) => row.blob_key));
}

async function dequeue(deps: Deleting, keys: readonly string[]): Promise<void> {
  const query = deps.database.build.deleteFrom("blob_deletions").where("blob_key", "in", keys);
  await deps.database.transaction((transaction) => transaction.run(query), { freesSpace: true });
}

/** What is over by time: resumable uploads nobody finished, and answers kept for repeated requests. */
import type { Session } from "../ports/database.ts";
import type { UploadRow } from "../ports/tables.ts";
import type { JobDeps } from "./start-jobs.ts";
import { deleteExpiredAnswers, deleteExpiredUpload, listExpiredUploads, queueUploadBytes } from "./store.ts";

type Expiring = Pick<JobDeps, "database" | "clock">;

/** Removes the rows; their bytes go to the deletion queue in the same transaction. */
export async function expireUploads(deps: Expiring, signal: AbortSignal): Promise<{ expired: number }> {
  let total = 0;
  while (!signal.aborted) {
    const rows = await listExpiredUploads(deps.database, deps.clock.now());
    if (rows.length === 0) break;
    for (const row of rows) total += await expireUpload(deps, row);
  }
  return { expired: total };
}

function expireUpload(deps: Expiring, upload: Pick<UploadRow, "id" | "blob_key">): Promise<number> {
  const now = deps.clock.now();
  const work = async (transaction: Session): Promise<number> => {
    await queueUploadBytes(transaction, upload.blob_key, now);
    return deleteExpiredUpload(transaction, upload.id, now);
  };
  return deps.database.transaction(work, { freesSpace: true });
}

export async function expireIdempotency(deps: Expiring): Promise<{ expired: number }> {
  const work = (transaction: Session): Promise<number> => deleteExpiredAnswers(transaction, deps.clock.now());
  return { expired: await deps.database.transaction(work, { freesSpace: true }) };
}

/** What is over by time: resumable uploads nobody finished, replaced versions, and answers kept for repeated requests. */
import { BLOB_GRACE_MS, queueBlobDeletion } from "../features/files/store.ts";
import type { Session } from "../ports/database.ts";
import type { UploadRow } from "../ports/tables.ts";
import type { JobDeps } from "./start-jobs.ts";
import {
  deleteExpiredAnswers,
  deleteExpiredUpload,
  deleteVersion,
  listEndedVersions,
  listExpiredUploads,
  queueUploadBytes,
} from "./store.ts";

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

/** Removes replaced versions of shared vaults' files once their hour is over; their bytes go to the deletion queue. */
export async function expireVersions(deps: Expiring, signal: AbortSignal): Promise<{ expired: number }> {
  let total = 0;
  while (!signal.aborted) {
    const rows = await listEndedVersions(deps.database, deps.clock.now());
    if (rows.length === 0) break;
    total += await deps.database.transaction(
      async (transaction) => {
        let expired = 0;
        for (const row of rows) {
          if ((await deleteVersion(transaction, row)) === 0) continue;
          const notBefore = deps.clock.now() + BLOB_GRACE_MS;
          await queueBlobDeletion(transaction, { blobKey: row.blob_key, notBefore });
          expired += 1;
        }
        return expired;
      },
      { freesSpace: true },
    );
  }
  return { expired: total };
}

export async function expireIdempotency(deps: Expiring): Promise<{ expired: number }> {
  const work = (transaction: Session): Promise<number> => deleteExpiredAnswers(transaction, deps.clock.now());
  return { expired: await deps.database.transaction(work, { freesSpace: true }) };
}

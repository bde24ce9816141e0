/** What is over by time: resumable uploads nobody finished, replaced versions, and answers kept for repeated requests. */
import { dropVersion } from "../features/files/kept-versions-store.ts";
import { dropEndedEntries } from "../features/items/entries-store.ts";
import { type AccountAct, actOn } from "../features/account/act.ts";
import { isPurging } from "../features/vaults/purging-store.ts";
import type { Queries } from "../ports/database.ts";
import type { UploadRow } from "../ports/tables.ts";
import {
  deleteExpiredAnswers,
  deleteExpiredUpload,
  listEndedVersions,
  listExpiredUploads,
  queueUploadBytes,
} from "./store.ts";
import { removeUnused } from "../ports/leases.ts";
import type { JobDeps } from "./job-deps.ts";

/** How much longer than an upload can be written to its lease is kept. Milliseconds. */
const LEASES_KEPT = 24 * 60 * 60_000;

type Expiring = Pick<JobDeps, "database" | "clock">;

/** Removes the rows; their bytes go to the deletion queue in the same transaction. */
export async function expireUploads(
  deps: Expiring & Pick<JobDeps, "settings">,
  signal: AbortSignal,
): Promise<{ expired: number }> {
  let total = 0;
  while (!signal.aborted) {
    const rows = await listExpiredUploads(deps.database, deps.clock.now());
    if (rows.length === 0) break;
    for (const row of rows) total += await expireUpload(deps, row);
  }
  const unused = deps.settings.timing.uploadLifetime + LEASES_KEPT;
  while (!signal.aborted && (await removeUnused(deps.database, unused)) > 0);
  return { expired: total };
}

function expireUpload(deps: Expiring, upload: Pick<UploadRow, "id" | "blob_key">): Promise<number> {
  const now = deps.clock.now();
  const work = async (transaction: Queries): Promise<number> => {
    await queueUploadBytes(transaction, upload.blob_key, now);
    return deleteExpiredUpload(transaction, upload.id, now);
  };
  return deps.database.transaction(work, { freesSpace: true });
}

/** Removes replaced versions once their time is over, each account's in an act of it. Their bytes go to the deletion queue. */
export async function expireVersions(
  deps: Expiring & Pick<JobDeps, "random" | "settings">,
  signal: AbortSignal,
): Promise<{ expired: number }> {
  let total = 0;
  while (!signal.aborted) {
    const now = deps.clock.now();
    const rows = await listEndedVersions(deps.database, now);
    if (rows.length === 0) break;
    for (const [accountId, ofAccount] of Map.groupBy(rows, (row) => row.account_id)) {
      const work = async (act: AccountAct): Promise<number> => {
        let count = 0;
        for (const row of ofAccount) {
          if (act.writtenRows >= deps.settings.limits.actRows) break;
          // The deletion of its vault has counted it as gone.
          if (await isPurging(act, row.vault_id)) continue;
          if (await dropVersion(act, row, { now, reason: "expired", endedBy: now })) count += 1;
        }
        return count;
      };
      total += await actOn(deps, accountId, work, { freesSpace: true });
    }
  }
  return { expired: total };
}

/** Forgets names and places whose time is over. Nothing counts them. */
export async function expireEntries(deps: Expiring, signal: AbortSignal): Promise<{ expired: number }> {
  let total = 0;
  while (!signal.aborted) {
    const work = (transaction: Queries): Promise<number> => dropEndedEntries(transaction, deps.clock.now());
    const dropped = await deps.database.transaction(work, { freesSpace: true });
    if (dropped === 0) break;
    total += dropped;
  }
  return { expired: total };
}

export async function expireIdempotency(deps: Expiring, signal: AbortSignal): Promise<{ expired: number }> {
  let total = 0;
  while (!signal.aborted) {
    const work = (transaction: Queries): Promise<number> => deleteExpiredAnswers(transaction, deps.clock.now());
    const expired = await deps.database.transaction(work, { freesSpace: true });
    if (expired === 0) break;
    total += expired;
  }
  return { expired: total };
}

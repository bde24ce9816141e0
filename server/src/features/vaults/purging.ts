/**
 * Vaults that are deleted for good: one write takes the vault out of everybody's sight, and what lies in it goes afterwards, some rows in
 * each transaction. Cut off anywhere, any process goes on.
 */
import type { Deps } from "../../deps.ts";
import type { Queries } from "../../ports/database.ts";
import { type AccountAct, type ActDeps, actOn } from "../account/act.ts";
import { BLOB_GRACE_MS, queueBlobDeletions } from "../files/store.ts";
import {
  countPurged,
  deletePurged,
  deleteRecords,
  deleteSomeFolders,
  deleteStored,
  isPurging,
  listPurging,
  RECORDS,
  STORED,
} from "./purging-store.ts";

type Limits = Pick<Deps, "clock" | "settings">;

/**
 * Deletes some of what lies in the vault, and at last its row; all blobs, those of unfinished uploads and replaced versions too, go to the
 * deletion queue. False: there is nothing left.
 */
export async function purgeSome(
  transaction: Queries,
  { clock, settings }: Limits,
  vault: { readonly id: string; readonly account_id: string },
): Promise<boolean> {
  let left = settings.limits.actRows;
  const notBefore = clock.now() + BLOB_GRACE_MS;
  for (const table of STORED) {
    // Each makes a row in the queue.
    const deleted = await deleteStored(transaction, table, vault.id, Math.ceil(left / 2));
    const givenUp = deleted.flatMap(({ blob_key, size }) =>
      blob_key === null ? [] : [{ blob_key, size, account_id: vault.account_id }],
    );
    await queueBlobDeletions(transaction, givenUp, { notBefore, reason: table === "uploads" ? "upload" : "deleted" });
    await countPurged(transaction, vault.id, sumOf(givenUp));
    left -= 2 * deleted.length;
    if (left <= 0) return true;
  }
  for (;;) {
    const deleted = await deleteSomeFolders(transaction, vault.id, left);
    left -= deleted;
    if (left <= 0) return true;
    if (deleted === 0) break;
  }
  for (const table of RECORDS) {
    left -= await deleteRecords(transaction, table, vault.id, left);
    if (left <= 0) return true;
  }
  await deletePurged(transaction, vault.id);
  return false;
}

function sumOf(rows: readonly { readonly size: number }[]): number {
  return rows.reduce((sum, { size }) => sum + size, 0);
}

/** Goes on with the vaults whose deletion has begun. */
export async function finishPurges(deps: ActDeps & Limits, signal: AbortSignal): Promise<{ purged: number }> {
  let purged = 0;
  for (const vault of await listPurging(deps.database)) {
    const step = async (act: AccountAct): Promise<boolean> =>
      (await isPurging(act, vault.id)) && purgeSome(act, deps, vault);
    do if (signal.aborted) return { purged };
    while (await actOn(deps, vault.account_id, step, { freesSpace: true }));
    purged += 1;
  }
  return { purged };
}

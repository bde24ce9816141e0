/** Removes what has been in the audit log for 365 days (decisions §4). */
import { AUDIT_DAYS } from "@coffer/contract";
import { BATCH, listOldEntries, removeEntries } from "../features/audit/store.ts";
import { listChangesAfter } from "../features/changes/store.ts";
import type { Queries } from "../ports/database.ts";
import type { JobDeps } from "./job-deps.ts";

const DAY = 24 * 60 * 60_000;

type Removing = Pick<JobDeps, "database" | "clock">;

/**
 * Oldest first and without a gap. An entry may have an earlier time than an older one, because the clock was set in
 * between. It stays until the older one goes. The hash of the newest removed entry stays, so that the chain has a
 * beginning.
 */
export async function removeOldEntries(deps: Removing, signal: AbortSignal): Promise<{ removed: number }> {
  const cutoff = deps.clock.now() - AUDIT_DAYS * DAY;
  let total = 0;
  for (let after = Number.MIN_SAFE_INTEGER; ;) {
    const rows = await listOldEntries(deps.database, { after, cutoff });
    let removed = 0;
    for (const accountId of new Set(rows.map((row) => row.account_id))) {
      removed += await removeOldOf(deps, accountId, cutoff, signal);
    }
    total += removed;
    const last = rows.at(-1);
    if (signal.aborted || rows.length < BATCH || last === undefined) return { removed: total };
    // More entries of that very moment may follow; where none could be removed, they wait for the next run.
    after = removed === 0 ? last.occurred_at : last.occurred_at - 1;
  }
}

async function removeOldOf(deps: Removing, accountId: string, cutoff: number, signal: AbortSignal): Promise<number> {
  let total = 0;
  while (!signal.aborted) {
    // An act: beside another remover, of a process whose clock is another, what is noted as removed could go back.
    const removed = await deps.database.act([accountId], (transaction) => removeBatch(transaction, accountId, cutoff), {
      freesSpace: true,
    });
    total += removed;
    if (removed < BATCH) break;
  }
  return total;
}

async function removeBatch(transaction: Queries, accountId: string, cutoff: number): Promise<number> {
  const oldest = await listChangesAfter(transaction, { accountId, after: 0, limit: BATCH });
  const kept = oldest.findIndex((row) => row.occurred_at > cutoff);
  const newest = kept === -1 ? oldest.at(-1) : oldest[kept - 1];
  if (newest === undefined) return 0;
  const { sequence, hash } = newest;
  return removeEntries(transaction, { account_id: accountId, sequence, hash });
}

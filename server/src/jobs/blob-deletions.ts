/**
 * The one road on which a content leaves the store. The rows that give it up queue it in their own transaction. Once nobody can be
 * about to read it any more it goes into quarantine, and after its time there it is deleted, unless a row names it again.
 */
import { limitsOf } from "../features/account/rules.ts";
import { keptFor } from "../features/quarantine/rules.ts";
import {
  leaveQuarantine,
  listEnded,
  listNamed,
  listQuarantined,
  markDeleting,
  putInQuarantine,
} from "../features/quarantine/store.ts";
import type { BlobDeletionRow } from "../ports/tables.ts";
import { BATCH, deleteFromQueue, listDueDeletions } from "./store.ts";
import type { JobDeps } from "./job-deps.ts";

/** Deletions of one step: as many as a store takes in one request, and as few as a transaction should change. */
export const DELETED_AT_ONCE = 500;

type Deleting = Pick<JobDeps, "database" | "blobs" | "log">;
type Emptying = Deleting & Pick<JobDeps, "clock" | "settings" | "runningTime">;

export type Deleted = {
  readonly deleted: number;
  /** Rows name them again. */
  readonly putBack: number;
  readonly failed: number;
};

export async function deleteQueuedBlobs(
  deps: Emptying,
  signal: AbortSignal,
): Promise<Deleted & { readonly quarantined: number }> {
  if ((await deps.runningTime.doubt()) !== null) return { quarantined: 0, deleted: 0, putBack: 0, failed: 0 };
  const total = await deps.runningTime.total();
  const quarantined = await emptyQueue(deps, total, signal);
  return { quarantined, ...(await deleteEnded(deps, total, signal)) };
}

/** How many contents it put into quarantine for a time. */
async function emptyQueue(deps: Emptying, total: number, signal: AbortSignal): Promise<number> {
  let quarantined = 0;
  while (!signal.aborted) {
    const rows = await listDueDeletions(deps.database, deps.clock.now());
    if (rows.length === 0) break;
    const kept = await chooseKept(deps, rows);
    const since = deps.clock.now();
    const entering = rows.map(({ blob_key, reason, account_id, bytes }) => ({
      blob_key,
      reason,
      account_id,
      bytes,
      since,
      deleting: 0,
      ends: kept.has(blob_key) ? total + keptFor(reason) : total,
    }));
    const enter = async (transaction: Parameters<typeof deleteFromQueue>[0]): Promise<void> => {
      await putInQuarantine(transaction, entering);
      await deleteFromQueue(
        transaction,
        rows.map((row) => row.blob_key),
      );
    };
    await deps.database.transaction(enter, { freesSpace: true });
    quarantined += kept.size;
    if (rows.length < BATCH) break;
  }
  return quarantined;
}

/**
 * An account has at most a further quota in quarantine, so that who stores and deletes without a pause fills no disk (decision 0027).
 * What it gives up beyond that goes at once, as do the bytes of uploads that came to nothing.
 */
async function chooseKept(
  { database, settings }: Emptying,
  rows: readonly BlobDeletionRow[],
): Promise<ReadonlySet<string>> {
  const ids = new Set(rows.flatMap((row) => row.account_id ?? []));
  const accounts = await listQuarantined(database, [...ids]);
  const room = new Map(accounts.map(({ id, plan, bytes }) => [id, limitsOf(plan, settings).storageBytes - bytes]));
  const kept = new Set<string>();
  for (const { blob_key: key, reason, account_id: accountId, bytes } of rows) {
    if (keptFor(reason) === 0) continue;
    const left = (accountId === null ? undefined : room.get(accountId)) ?? Infinity;
    if (bytes > left) continue;
    if (accountId !== null) room.set(accountId, left - bytes);
    kept.add(key);
  }
  return kept;
}

async function deleteEnded(deps: Deleting, total: number, signal: AbortSignal): Promise<Deleted> {
  let sum: Deleted = { deleted: 0, putBack: 0, failed: 0 };
  let after = "";
  while (!signal.aborted) {
    const keys = await listEnded(deps.database, { total, after, limit: DELETED_AT_ONCE });
    if (keys.length === 0) break;
    sum = add(sum, await deleteContents(deps, keys, total));
    after = keys.at(-1) ?? after;
  }
  return sum;
}

/**
 * Deletes contents of the quarantine that no row names. First the mark, then the look-up: a commit that begins to name one of them
 * removes its row of the quarantine (`claimContent`), so either it is through and is seen here, or it waits for this mark and is
 * refused. Then the bytes go, and the row at last: after a crash in between the next run goes on.
 */
export async function deleteContents(
  deps: Deleting,
  keys: readonly string[],
  endedBy: number | null,
): Promise<Deleted> {
  const { database, blobs, log } = deps;
  const { going, named } = await database.transaction(
    async (transaction) => {
      const marked = await markDeleting(transaction, keys, endedBy);
      const named = await listNamed(transaction, marked);
      await leaveQuarantine(transaction, [...named]);
      return { going: marked.filter((key) => !named.has(key)), named };
    },
    { freesSpace: true },
  );
  const failed = going.length === 0 ? new Map<string, unknown>() : await blobs.removeAll(going);
  for (const [key, error] of failed) log.error({ err: error, blobKey: key }, "a blob could not be deleted");
  const gone = going.filter((key) => !failed.has(key));
  if (gone.length > 0)
    await database.transaction((transaction) => leaveQuarantine(transaction, gone), { freesSpace: true });
  return { deleted: gone.length, putBack: named.size, failed: failed.size };
}

export function add(one: Deleted, other: Deleted): Deleted {
  return {
    deleted: one.deleted + other.deleted,
    putBack: one.putBack + other.putBack,
    failed: one.failed + other.failed,
  };
}

import { FIRST_PREVIOUS_HASH } from "@coffer/contract";
import { prepared, type Queries } from "../../ports/database.ts";
import type { ChangeRow, RemovedChangesRow } from "../../ports/tables.ts";

/** Rows read or removed in one step. */
export const BATCH = 500;

const newestBefore = prepared((build, value: { accountId: string; before: number; limit: number }) =>
  build
    .selectFrom("changes")
    .selectAll()
    .where("account_id", "=", value.accountId)
    .where("sequence", "<", value.before)
    .orderBy("sequence", "desc")
    .limit(value.limit),
);

/** The newest entries before a sequence number. */
export function listEntries(
  queries: Queries,
  accountId: string,
  range: { before: number; limit: number },
): Promise<ChangeRow[]> {
  return queries.all(newestBefore(queries, { accountId, ...range }));
}

const newestOfAction = prepared((build, value: { accountId: string; action: string; before: number; limit: number }) =>
  build
    .selectFrom("changes")
    .selectAll()
    .where("account_id", "=", value.accountId)
    .where("action", "=", value.action)
    .where("sequence", "<", value.before)
    .orderBy("sequence", "desc")
    .limit(value.limit),
);

/**
 * The same for one action, or for every action that begins with `action` and a dot. Each action is read off the index by
 * itself: a rare one costs no walk through a year of uploads.
 */
export async function listEntriesOf(
  queries: Queries,
  accountId: string,
  action: string,
  range: { before: number; limit: number },
): Promise<ChangeRow[]> {
  const actions = await listActions(queries, accountId, action);
  const found = await Promise.all(
    actions.map((each) => queries.all(newestOfAction(queries, { accountId, action: each, ...range }))),
  );
  return found
    .flat()
    .sort((a, b) => b.sequence - a.sequence)
    .slice(0, range.limit);
}

const nextAction = prepared((build, value: { accountId: string; after: string }) =>
  build
    .selectFrom("changes")
    .select("action")
    .where("account_id", "=", value.accountId)
    .where("action", ">", value.after)
    .orderBy("action")
    .limit(1),
);

/** The action itself, and those of the account below it: one probe of the index for each, however many rows they have. */
export async function listActions(queries: Queries, accountId: string, action: string): Promise<string[]> {
  const actions = [action];
  const below = `${action}.`;
  for (let after = below; ;) {
    const row = await queries.first(nextAction(queries, { accountId, after }));
    if (row?.action.startsWith(below) !== true) return actions;
    actions.push(row.action);
    after = row.action;
  }
}

const chainEnds = prepared((build, value: { accountId: string }) =>
  build
    .selectFrom("accounts")
    .leftJoin("removed_changes", "removed_changes.account_id", "accounts.id")
    .select([
      "accounts.sequence as head_sequence",
      "accounts.changes_hash as head_hash",
      "removed_changes.sequence as removed_sequence",
      "removed_changes.hash as removed_hash",
    ])
    .where("accounts.id", "=", value.accountId),
);

/** The entry before the account's oldest one, and the required newest one. Null: no such account. */
export async function findChainEnds(queries: Queries, accountId: string) {
  const row = await queries.first(chainEnds(queries, { accountId }));
  if (row === null) return null;
  return {
    before: { sequence: row.removed_sequence ?? 0, hash: row.removed_hash ?? FIRST_PREVIOUS_HASH },
    head: { sequence: row.head_sequence, hash: row.head_hash },
  };
}

const accountsAfter = prepared((build, value: { after: string }) =>
  build.selectFrom("accounts").select("id").where("id", ">", value.after).orderBy("id").limit(BATCH),
);

export async function listAccountIds(queries: Queries, after: string): Promise<string[]> {
  return (await queries.all(accountsAfter(queries, { after }))).map((row) => row.id);
}

const entriesOfNobody = prepared((build, _none: Record<never, never>) =>
  build
    .selectFrom("changes")
    .select(["account_id", "sequence", "id"])
    .where("account_id", "not in", (from) => from.selectFrom("accounts").select("accounts.id"))
    .orderBy("account_id")
    .orderBy("sequence")
    .limit(1),
);

/** The first entry of an account that does not exist: the service writes none. */
export function findEntryOfNobody(queries: Queries): Promise<Pick<ChangeRow, "account_id" | "sequence" | "id"> | null> {
  return queries.first(entriesOfNobody(queries, {}));
}

const oldest = prepared((build, value: { after: number; cutoff: number }) =>
  build
    .selectFrom("changes")
    .select(["account_id", "occurred_at"])
    .where("occurred_at", ">", value.after)
    .where("occurred_at", "<=", value.cutoff)
    .orderBy("occurred_at")
    .limit(BATCH),
);

/** Entries of all accounts, oldest first; fewer than {@link BATCH} only at the end. Reads no younger ones. */
export function listOldEntries(
  queries: Queries,
  range: { after: number; cutoff: number },
): Promise<Pick<ChangeRow, "account_id" | "occurred_at">[]> {
  return queries.all(oldest(queries, range));
}

const removeThrough = prepared((build, value: { accountId: string; sequence: number }) =>
  build.deleteFrom("changes").where("account_id", "=", value.accountId).where("sequence", "<=", value.sequence),
);

const recordRemoved = prepared((build, row: { account_id: string; sequence: number; hash: string }) =>
  build
    .insertInto("removed_changes")
    .values({ account_id: row.account_id, sequence: row.sequence, hash: row.hash })
    .onConflict((conflict) =>
      conflict
        .column("account_id")
        .doUpdateSet({ sequence: row.sequence, hash: row.hash })
        .where("removed_changes.sequence", "<", row.sequence),
    ),
);

/**
 * Removes the account's oldest entries up to `newest` and keeps what the chain begins with from then on. It never
 * moves back, even if others remove entries: the log would begin with one that is gone.
 */
export async function removeEntries(transaction: Queries, newest: RemovedChangesRow): Promise<number> {
  const { account_id: accountId, sequence, hash } = newest;
  await transaction.run(recordRemoved(transaction, { account_id: accountId, sequence, hash }));
  return transaction.run(removeThrough(transaction, { accountId, sequence }));
}

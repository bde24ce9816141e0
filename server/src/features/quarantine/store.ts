/** The SQL of the quarantine: contents that are to be deleted later, and stay where they are until then. */
import { sql } from "kysely";
import { prepared, type Queries } from "../../ports/database.ts";
import type { DeletionReason, QuarantineRow, SweepRow } from "../../ports/quarantine-tables.ts";
import { ServiceError } from "../../service-error.ts";

const claim = prepared((build, value: { blobKey: string }) =>
  build.deleteFrom("blob_quarantine").where("blob_key", "=", value.blobKey).returning("deleting"),
);

/**
 * Called in the transaction in which a row begins to name a content. If the sweep took it meanwhile it comes back. The row of the
 * quarantine is what the final deletion locks before it looks for names, so one of both waits for the other (jobs/blob-deletions.ts).
 * Throws `unavailable` when the bytes are on their way out.
 */
export async function claimContent(transaction: Queries, blobKey: string): Promise<void> {
  const row = await transaction.first(claim(transaction, { blobKey }));
  if (row?.deleting === 1)
    throw new ServiceError("unavailable", "The bytes waited too long for their row and are gone: send them again");
}

/** What lies there already stays as it is. */
export async function putInQuarantine(transaction: Queries, rows: readonly QuarantineRow[]): Promise<void> {
  if (rows.length === 0) return;
  await transaction.run(
    transaction.build
      .insertInto("blob_quarantine")
      .values(rows)
      .onConflict((conflict) => conflict.column("blob_key").doNothing()),
  );
}

const ended = prepared((build, value: { total: number; after: string; limit: number; except: string }) =>
  build
    .selectFrom("blob_quarantine")
    .select("blob_key")
    .where("ends", "<=", value.total)
    .where("blob_key", ">", value.after)
    .where("reason", "<>", value.except as DeletionReason)
    .orderBy("blob_key")
    .limit(value.limit),
);

/** Contents whose time is over. After a sweep that stopped those that sweeps found stay: whose rows these are is in doubt. */
export async function listEnded(
  queries: Queries,
  value: { total: number; after: string; limit: number },
): Promise<string[]> {
  const except = (await findLastSweep(queries))?.stopped === 1 ? "orphan" : "";
  return (await queries.all(ended(queries, { ...value, except }))).map((row) => row.blob_key);
}

/** Locks the rows until the transaction ends, and says that their bytes go. `endedBy`: only those; null: all. Returns their keys. */
export async function markDeleting(
  transaction: Queries,
  keys: readonly string[],
  endedBy: number | null,
): Promise<string[]> {
  const mark = transaction.build
    .updateTable("blob_quarantine")
    .set({ deleting: 1, ends: 0 })
    .where("blob_key", "in", keys)
    .$if(endedBy !== null, (query) => query.where("ends", "<=", endedBy))
    .returning("blob_key");
  return (await transaction.all(mark)).map((row) => row.blob_key);
}

/** Which of the keys a file, a kept version or an unfinished upload names. */
export async function listNamed(queries: Queries, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const { build } = queries;
  const named = new Set<string>();
  if (keys.length === 0) return named;
  for (const query of [
    build.selectFrom("files").select("blob_key").where("blob_key", "in", keys),
    build.selectFrom("file_versions").select("blob_key").where("blob_key", "in", keys),
    build.selectFrom("uploads").select("blob_key").where("blob_key", "in", keys).where("finished_file_id", "is", null),
  ])
    for (const row of await queries.all(query)) named.add(row.blob_key);
  return named;
}

/** Removes the rows: the contents are put back, or are gone. Returns how many there were. */
export async function leaveQuarantine(transaction: Queries, keys: readonly string[]): Promise<number> {
  if (keys.length === 0) return 0;
  return transaction.run(transaction.build.deleteFrom("blob_quarantine").where("blob_key", "in", keys));
}

/** The same for contents that rows name, and whose bytes are not on their way out. */
export async function putBack(transaction: Queries, keys: readonly string[]): Promise<number> {
  if (keys.length === 0) return 0;
  const { build } = transaction;
  return transaction.run(build.deleteFrom("blob_quarantine").where("blob_key", "in", keys).where("deleting", "=", 0));
}

/** Nothing but an operator deletes them from now on. Returns how many of the keys are there. */
export async function keepForOperator(transaction: Queries, keys: readonly string[]): Promise<number> {
  if (keys.length === 0) return 0;
  const { build } = transaction;
  return transaction.run(
    build.updateTable("blob_quarantine").set({ ends: null }).where("blob_key", "in", keys).where("deleting", "=", 0),
  );
}

/** Which contents of the quarantine: of a reason, or those with these keys. Neither: all. */
export interface Selection {
  readonly reason?: DeletionReason | undefined;
  readonly keys?: readonly string[] | undefined;
}

/** In the order of their keys; fewer than `limit` only at the end. */
export function listQuarantine(
  queries: Queries,
  { reason, keys }: Selection,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<QuarantineRow[]> {
  let query = queries.build.selectFrom("blob_quarantine").selectAll().where("blob_key", ">", after);
  if (reason !== undefined) query = query.where("reason", "=", reason);
  if (keys !== undefined) query = query.where("blob_key", "in", keys);
  return queries.all(query.orderBy("blob_key").limit(limit));
}

export interface QuarantineSum {
  readonly reason: DeletionReason;
  readonly contents: number;
  readonly bytes: number;
}

/** What lies in quarantine, by reason. */
export async function sumQuarantine(queries: Queries): Promise<QuarantineSum[]> {
  const { build } = queries;
  const sums = build
    .selectFrom("blob_quarantine")
    .select((row) => ["reason", row.fn.countAll<number | string>().as("contents")])
    .select((row) => row.fn.sum<number | string>("bytes").as("bytes"))
    .groupBy("reason")
    .orderBy("reason");
  return (await queries.all(sums)).map(({ reason, contents, bytes }) => ({
    reason,
    contents: Number(contents),
    bytes: Number(bytes),
  }));
}

const byReason = prepared((build, value: { reason: DeletionReason }) =>
  build
    .selectFrom("blob_quarantine")
    .select((row) => row.fn.countAll<number | string>().as("contents"))
    .where("reason", "=", value.reason),
);

export async function countQuarantine(queries: Queries, reason: DeletionReason): Promise<number> {
  return Number((await queries.first(byReason(queries, { reason })))?.contents ?? 0);
}

export interface QuarantinedAccount {
  readonly id: string;
  readonly plan: string;
  /** Its bytes in quarantine. */
  readonly bytes: number;
}

/** Of these accounts those that there are. */
export async function listQuarantined(queries: Queries, accountIds: readonly string[]): Promise<QuarantinedAccount[]> {
  if (accountIds.length === 0) return [];
  const query = queries.build
    .selectFrom("accounts")
    .select(["id", "plan"])
    .select((row) =>
      row
        .selectFrom("blob_quarantine")
        .select(sql<number | string>`coalesce(sum(bytes), 0)`.as("sum"))
        .whereRef("blob_quarantine.account_id", "=", "accounts.id")
        .as("bytes"),
    )
    .where("id", "in", accountIds);
  return (await queries.all(query)).map((row) => ({ ...row, bytes: Number(row.bytes ?? 0) }));
}

/** The one row of `sweeps`. */
const LAST = "last";

/** What the last sweep found, for the metrics of every process; null: none has ended yet. */
export function findLastSweep(queries: Queries): Promise<SweepRow | null> {
  return queries.first(queries.build.selectFrom("sweeps").selectAll().where("id", "=", LAST));
}

export async function recordSweep(transaction: Queries, found: Omit<SweepRow, "id">): Promise<void> {
  const { build } = transaction;
  const row = { id: LAST, ...found };
  await transaction.run(
    build
      .insertInto("sweeps")
      .values(row)
      .onConflict((conflict) => conflict.column("id").doUpdateSet(found)),
  );
}

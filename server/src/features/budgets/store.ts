/** The SQL of budgets (decision 0057). Callers lock a budget's row before they count what it has. */
import { sql } from "kysely";
import { prepared, type Queries } from "../../ports/database.ts";
import type { BudgetHoldRow, BudgetRow } from "../../ports/tables.ts";
import type { HoldBounds, SlotRange, Spending } from "./rules.ts";

type Count = number | string | null;

export async function insertBudget(transaction: Queries, row: BudgetRow): Promise<void> {
  await transaction.run(transaction.build.insertInto("budgets").values(row));
}

const addStored = prepared((build, value: { id: string; bytes: number }) =>
  build
    .updateTable("budgets")
    .set((row) => ({ stored_bytes: row("stored_bytes", "+", value.bytes) }))
    .where("id", "=", value.id)
    .returning(["stored_bytes", "parent_id"]),
);

/** Locks the budget until the end of the transaction. Answers it with what was added. */
export async function lockBudget(
  transaction: Queries,
  value: { id: string; bytes: number },
): Promise<Pick<BudgetRow, "stored_bytes" | "parent_id">> {
  const row = await transaction.first(addStored(transaction, value));
  if (row === null) throw new Error(`budget ${value.id} has no row`);
  return row;
}

const written = prepared((build, { id, first, last }: { id: string } & SlotRange) =>
  build
    .selectFrom("budget_slots")
    .select(({ fn }) => [fn.sum<Count>("bytes").as("bytes"), fn.sum<Count>("files").as("files")])
    .where("budget_id", "=", id)
    .where("slot", ">=", first)
    .where("slot", "<=", last),
);

/** At most 194 rows: a day before, and a day ahead of a clock that was set back. */
export async function sumWritten(queries: Queries, value: { id: string } & SlotRange): Promise<Spending> {
  const row = await queries.first(written(queries, value));
  return { bytes: Number(row?.bytes ?? 0), files: Number(row?.files ?? 0) };
}

const slots = prepared((build, { id, first, last }: { id: string } & SlotRange) =>
  build
    .selectFrom("budget_slots")
    .select(["slot", "bytes", "files"])
    .where("budget_id", "=", id)
    .where("slot", ">=", first)
    .where("slot", "<=", last)
    .orderBy("slot"),
);

/** The same one by one, oldest first. */
export async function listWritten(
  queries: Queries,
  value: { id: string } & SlotRange,
): Promise<readonly (Spending & { readonly slot: number })[]> {
  return await queries.all(slots(queries, value));
}

/** Adds to a slot. A new one takes the place of those that have counted for nobody for a day. */
export async function addWritten(
  transaction: Queries,
  { id, slot, bytes, files, before }: Spending & { id: string; slot: number; before: number },
): Promise<void> {
  const added = transaction.build
    .updateTable("budget_slots")
    .set((row) => ({ bytes: row("bytes", "+", bytes), files: row("files", "+", files) }))
    .where("budget_id", "=", id)
    .where("slot", "=", slot);
  if ((await transaction.run(added)) > 0) return;
  await transaction.run(
    transaction.build.deleteFrom("budget_slots").where("budget_id", "=", id).where("slot", "<", before),
  );
  await transaction.run(transaction.build.insertInto("budget_slots").values({ budget_id: id, slot, bytes, files }));
}

const held = prepared((build, value: { id: string } & HoldBounds) =>
  build
    .selectFrom("budget_holds")
    .select(({ fn }) => [fn.sum<Count>("bytes").as("bytes"), fn.countAll<number | string>().as("files")])
    .where("budget_id", "=", value.id)
    .where("expires_at", ">", value.now)
    .where("expires_at", "<=", latestOf(value)),
);

/** A hold goes with an upload in one request, or with a resumable one, which lasts longer. */
function latestOf({ latestHold, latestUpload }: HoldBounds) {
  return sql<number>`case when hold_id is null then cast(${latestUpload} as bigint) else cast(${latestHold} as bigint) end`;
}

/** What unfinished uploads hold. */
export async function sumHeld(queries: Queries, value: { id: string } & HoldBounds): Promise<Spending> {
  const row = await queries.first(held(queries, value));
  return { bytes: Number(row?.bytes ?? 0), files: Number(row?.files ?? 0) };
}

/** What has expired goes on the way. */
export async function insertBudgetHold(transaction: Queries, row: BudgetHoldRow, now: number): Promise<void> {
  const { build } = transaction;
  await transaction.run(
    build.deleteFrom("budget_holds").where("budget_id", "=", row.budget_id).where("expires_at", "<=", now),
  );
  await transaction.run(build.insertInto("budget_holds").values(row));
}

/** A resumable upload's row outlives its end. What it held goes with its end. */
export async function deleteHoldsOfUpload(transaction: Queries, uploadId: string): Promise<void> {
  await transaction.run(transaction.build.deleteFrom("budget_holds").where("upload_id", "=", uploadId));
}

/** What the budget has used, as far as rows say. */
export interface UsedRow extends Spending {
  readonly id: string;
  readonly storedBytes: number;
  /** The first slots that count; null: none does. */
  readonly firstBytes: number | null;
  readonly firstFiles: number | null;
}

/** For some budgets at once. */
export async function listUsed(
  queries: Queries,
  ids: readonly string[],
  { first, last, ...bounds }: SlotRange & HoldBounds,
): Promise<readonly UsedRow[]> {
  if (ids.length === 0) return [];
  const { build } = queries;
  const stored = await queries.all(build.selectFrom("budgets").select(["id", "stored_bytes"]).where("id", "in", ids));
  const firstWith = (column: string) => sql<number | string>`min(case when ${sql.ref(column)} > 0 then slot end)`;
  const daily = await queries.all(
    build
      .selectFrom("budget_slots")
      .select(({ fn }) => [
        "budget_id",
        fn.sum<Count>("bytes").as("bytes"),
        fn.sum<Count>("files").as("files"),
        firstWith("bytes").as("first_bytes"),
        firstWith("files").as("first_files"),
      ])
      .where("budget_id", "in", ids)
      .where("slot", ">=", first)
      .where("slot", "<=", last)
      .groupBy("budget_id"),
  );
  const holding = await queries.all(
    build
      .selectFrom("budget_holds")
      .select(({ fn }) => ["budget_id", fn.sum<Count>("bytes").as("bytes"), fn.countAll<number | string>().as("files")])
      .where("budget_id", "in", ids)
      .where("expires_at", ">", bounds.now)
      .where("expires_at", "<=", latestOf(bounds))
      .groupBy("budget_id"),
  );
  const days = new Map(daily.map((row) => [row.budget_id, row]));
  const holds = new Map(holding.map((row) => [row.budget_id, row]));
  return stored.map(({ id, stored_bytes }) => {
    const [day, hold] = [days.get(id), holds.get(id)];
    return {
      id,
      storedBytes: stored_bytes + Number(hold?.bytes ?? 0),
      bytes: Number(day?.bytes ?? 0) + Number(hold?.bytes ?? 0),
      files: Number(day?.files ?? 0) + Number(hold?.files ?? 0),
      firstBytes: numberOrNull(day?.first_bytes ?? null),
      firstFiles: numberOrNull(day?.first_files ?? null),
    };
  });
}

function numberOrNull(value: Count): number | null {
  return value === null ? null : Number(value);
}

/** The SQL of partial blobs: what of them is durable, and where (ports/blob-part-tables.ts). */
import { type Database, prepared, type Queries } from "../../../ports/database.ts";
import type { BlobPartialRow, BlobPartRow } from "../../../ports/blob-part-tables.ts";

const byKey = prepared((build, value: { key: string }) =>
  build.selectFrom("blob_partials").selectAll().where("blob_key", "=", value.key),
);

export function findPartial(queries: Queries, key: string): Promise<BlobPartialRow | null> {
  return queries.first(byKey(queries, { key }));
}

export function findPartials(queries: Queries, keys: readonly string[]): Promise<BlobPartialRow[]> {
  if (keys.length === 0) return Promise.resolve([]);
  return queries.all(queries.build.selectFrom("blob_partials").selectAll().where("blob_key", "in", keys));
}

export async function insertPartial(database: Database, row: BlobPartialRow): Promise<void> {
  await database.transaction((transaction) =>
    transaction.run(transaction.build.insertInto("blob_partials").values(row)),
  );
}

const partsOf = prepared((build, value: { key: string }) =>
  build.selectFrom("blob_parts").selectAll().where("blob_key", "=", value.key).orderBy("number"),
);

export function listParts(queries: Queries, key: string): Promise<BlobPartRow[]> {
  return queries.all(partsOf(queries, { key }));
}

const unfinishedAfter = prepared((build, value: { after: string; limit: number }) =>
  build
    .selectFrom("blob_partials")
    .selectAll()
    .where("blob_key", ">", value.after)
    .where("completed_at", "is", null)
    .orderBy("blob_key")
    .limit(value.limit),
);

export function listUnfinished(queries: Queries, after: string, limit: number): Promise<BlobPartialRow[]> {
  return queries.all(unfinishedAfter(queries, { after, limit }));
}

type Change = Partial<Omit<BlobPartialRow, "blob_key">>;

/** Writes the change and the new parts, if the row is still what the writer saw. False: another writer has taken it. */
export function changePartial(
  database: Database,
  seen: Pick<BlobPartialRow, "blob_key" | "writer" | "length">,
  change: Change,
  parts: readonly BlobPartRow[] = [],
): Promise<boolean> {
  return database.transaction(async (transaction) => {
    const changed = await transaction.run(
      transaction.build
        .updateTable("blob_partials")
        .set(change)
        .where("blob_key", "=", seen.blob_key)
        .where("writer", "=", seen.writer)
        .where("length", "=", seen.length)
        .where("completed_at", "is", null),
    );
    if (changed === 0) return false;
    if (parts.length > 0) await transaction.run(transaction.build.insertInto("blob_parts").values([...parts]));
    return true;
  });
}

/** From then on what the writer before has under way counts for nothing. 0: there is no such partial. */
export function raiseWriter(database: Database, key: string): Promise<number> {
  return database.transaction((transaction) =>
    transaction.run(
      transaction.build
        .updateTable("blob_partials")
        .set((row) => ({ writer: row("writer", "+", 1), next_part: row("next_part", "+", 1) }))
        .where("blob_key", "=", key)
        .where("completed_at", "is", null),
    ),
  );
}

/** Parts that are in the store and no part of the blob, as they are now. */
export async function putStrays(database: Database, key: string, strays: readonly BlobPartRow[]): Promise<void> {
  await database.transaction(async (transaction) => {
    const { build } = transaction;
    await transaction.run(build.deleteFrom("blob_parts").where("blob_key", "=", key).where("stray", "=", 1));
    if (strays.length > 0) await transaction.run(build.insertInto("blob_parts").values([...strays]));
  });
}

/** The blob is there: its parts are no longer asked for. */
export async function markComplete(
  database: Database,
  key: string,
  change: Pick<BlobPartialRow, "sha256" | "completed_at">,
): Promise<void> {
  await database.transaction(async (transaction) => {
    const { build } = transaction;
    await transaction.run(build.deleteFrom("blob_parts").where("blob_key", "=", key));
    await transaction.run(
      build
        .updateTable("blob_partials")
        .set({ ...change, upload_id: null, tail_bytes: 0 })
        .where("blob_key", "=", key),
    );
  });
}

export async function deletePartials(database: Database, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await database.transaction(
    async (transaction) => {
      const { build } = transaction;
      await transaction.run(build.deleteFrom("blob_parts").where("blob_key", "in", keys));
      await transaction.run(build.deleteFrom("blob_partials").where("blob_key", "in", keys));
    },
    { freesSpace: true },
  );
}

/** Receipts that nobody asks for again. */
export async function deleteReceipts(database: Database, completedBefore: number): Promise<void> {
  await database.transaction(
    (transaction) =>
      transaction.run(transaction.build.deleteFrom("blob_partials").where("completed_at", "<=", completedBefore)),
    { freesSpace: true },
  );
}

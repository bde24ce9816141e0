/** The SQL of the mark that rows and blob store share. */
import { type Database, type Queries } from "../../ports/database.ts";
import type { StoreMarkRow } from "../../ports/store-mark-tables.ts";

/** A full disk must not prevent deleting, and what deletes begins with the mark. */
const FREES_SPACE = { freesSpace: true } as const;
const ONLY = 1;
/** Contents of each kind that are looked up: their keys are random, so these are a sample. */
const SAMPLE = 100;

export function findMarkRow(queries: Queries): Promise<StoreMarkRow | null> {
  return queries.first(queries.build.selectFrom("store_marks").selectAll().where("id", "=", ONLY));
}

/** Whether contents wait for an operator's adoption before any is deleted. */
export async function isStopped(queries: Queries): Promise<boolean> {
  const row = await findMarkRow(queries);
  return row !== null && row.stopped !== null;
}

/** The row that is there, or a first one that the store has not confirmed yet. */
export async function proposeMark(
  database: Database,
  proposed: Pick<StoreMarkRow, "store_id" | "token">,
): Promise<StoreMarkRow> {
  const row = { ...proposed, id: ONLY, previous_token: null, renewed_at: null, stopped: null };
  const query = database.build
    .insertInto("store_marks")
    .values(row)
    .onConflict((conflict) => conflict.column("id").doNothing());
  await database.transaction((transaction) => transaction.run(query), FREES_SPACE);
  return (await findMarkRow(database)) ?? row;
}

/** The store has taken the first mark. */
export async function confirmMark(
  database: Database,
  { token }: Pick<StoreMarkRow, "token">,
  now: number,
): Promise<void> {
  const query = database.build
    .updateTable("store_marks")
    .set({ renewed_at: now })
    .where("id", "=", ONLY)
    .where("token", "=", token)
    .where("renewed_at", "is", null);
  await database.transaction((transaction) => transaction.run(query), FREES_SPACE);
}

/** False: another process of this database has renewed it meanwhile, or deletion was stopped. */
export async function renewMarkRow(
  database: Database,
  { from, ...renewed }: Pick<StoreMarkRow, "token" | "previous_token" | "renewed_at"> & { readonly from: string },
): Promise<boolean> {
  const query = database.build
    .updateTable("store_marks")
    .set(renewed)
    .where("id", "=", ONLY)
    .where("token", "=", from)
    .where("stopped", "is", null);
  return (await database.transaction((transaction) => transaction.run(query), FREES_SPACE)) === 1;
}

export async function recordStopped(database: Database, stopped: string): Promise<void> {
  const query = database.build
    .updateTable("store_marks")
    .set({ stopped })
    .where("id", "=", ONLY)
    .where("stopped", "is", null);
  await database.transaction((transaction) => transaction.run(query), FREES_SPACE);
}

/** Whatever row there was: an operator has decided. */
export async function putMarkRow(database: Database, row: Omit<StoreMarkRow, "id">): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction.run(transaction.build.deleteFrom("store_marks").where("id", "=", ONLY));
    await transaction.run(transaction.build.insertInto("store_marks").values({ ...row, id: ONLY }));
  });
}

/** Some of the contents that rows name; empty only when they name none. */
export async function sampleContents(queries: Queries): Promise<string[]> {
  const keys: string[] = [];
  for (const table of ["files", "file_versions"] as const) {
    const some = queries.build.selectFrom(table).select("blob_key").orderBy("blob_key").limit(SAMPLE);
    keys.push(...(await queries.all(some)).map((row) => row.blob_key));
  }
  return keys;
}

/** Which of the keys are those of contents, and which of others are known for another reason. */
export async function sortKeys(
  queries: Queries,
  keys: readonly string[],
): Promise<{ readonly named: ReadonlySet<string>; readonly known: ReadonlySet<string> }> {
  const keysOf = async (
    table: "files" | "file_versions" | "uploads" | "blob_deletions" | "blob_quarantine",
  ): Promise<string[]> => {
    const query = queries.build.selectFrom(table).select("blob_key").where("blob_key", "in", keys);
    return (await queries.all(query)).map((row) => row.blob_key);
  };
  return {
    named: new Set([...(await keysOf("files")), ...(await keysOf("file_versions"))]),
    known: new Set([
      ...(await keysOf("uploads")),
      ...(await keysOf("blob_deletions")),
      ...(await keysOf("blob_quarantine")),
    ]),
  };
}

/** How many contents the rows name, each counted once. */
export async function countNamed(queries: Queries): Promise<number> {
  const files = queries.build.selectFrom("files").select("blob_key");
  const versions = queries.build.selectFrom("file_versions").select("blob_key");
  const query = queries.build
    .selectFrom(files.union(versions).as("named"))
    .select(({ fn }) => fn.countAll<number>().as("count"));
  return (await queries.first(query))?.count ?? 0;
}

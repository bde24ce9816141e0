/** Rows from one database to another, page by page in the order of their keys: what is there already is not sent again. */
import { createHash } from "node:crypto";
import { type Kysely, type RawBuilder, sql } from "kysely";
import { type FoundFile, indexAgain } from "../search-index/store.ts";
import type { Database, Queries } from "../../ports/database.ts";
import type { MovedTable } from "./tables.ts";

type Row = Readonly<Record<string, unknown>>;
type AnyTables = Record<string, Record<string, unknown>>;

/** As many as one statement takes with all their columns. */
const PAGE = 250;

const anyOf = (queries: Queries): Kysely<AnyTables> => queries.build as unknown as Kysely<AnyTables>;

export async function countRows(queries: Queries, table: MovedTable): Promise<number> {
  let query = anyOf(queries)
    .selectFrom(table.name)
    .select(({ fn }) => fn.countAll<number>().as("count"));
  if (table.only !== undefined) query = query.where(table.only.column, "is not", null);
  return (await queries.first(query))?.count ?? 0;
}

/** Answers how many rows it sent, and reports each page. `isServed`: false where nobody will search. */
export async function copyRows(
  source: Queries,
  target: Database,
  table: MovedTable,
  told: (rows: number) => void,
  { isServed = true } = {},
): Promise<number> {
  let sent = 0;
  for (let after = await lastOf(target, table); ;) {
    const page = await pageOf(source, table, after);
    if (page.length > 0)
      await target.transaction(async (transaction) => {
        await transaction.run(
          anyOf(transaction)
            .insertInto(table.name)
            .values([...page]),
        );
        if (isServed && table.name === "files") await indexAgain(transaction, page.filter(isIndexed));
      });
    sent += page.length;
    told(page.length);
    after = page.at(-1) ?? after;
    if (page.length < PAGE) return sent;
  }
}

/** The index of words has a form of its own in each dialect. */
function isIndexed(row: Row): row is Row & FoundFile {
  return row["search_id"] !== null && row["search_waits"] === null;
}

/** One digest over all rows, whatever database they are in. */
export async function digestRows(
  queries: Queries,
  table: MovedTable,
): Promise<{ readonly rows: number; readonly digest: string }> {
  const digest = createHash("sha256");
  let rows = 0;
  for (let after: Row | null = null; ;) {
    const page: Row[] = await pageOf(queries, table, after);
    for (const row of page) digest.update(`${JSON.stringify(Object.entries(row).toSorted(byName))}\n`);
    rows += page.length;
    after = page.at(-1) ?? after;
    if (page.length < PAGE) return { rows, digest: digest.digest("hex") };
  }
}

function byName([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : 1;
}

function pageOf(queries: Queries, table: MovedTable, after: Row | null): Promise<Row[]> {
  let query = anyOf(queries).selectFrom(table.name).selectAll().limit(PAGE);
  for (const column of table.key) query = query.orderBy(column);
  if (table.only !== undefined) query = query.where(table.only.column, "is not", null);
  if (after !== null) query = query.where(beyond(table, after));
  return queries.all(query);
}

function beyond({ key }: MovedTable, row: Row): RawBuilder<boolean> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  return sql<boolean>`(${columns}) > (${sql.join(key.map((column) => row[column]))})`;
}

async function lastOf(queries: Queries, table: MovedTable): Promise<Row | null> {
  let query = anyOf(queries).selectFrom(table.name).selectAll().limit(1);
  for (const column of table.key) query = query.orderBy(column, "desc");
  return queries.first(query);
}

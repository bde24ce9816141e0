/** TEST ONLY: every table of PostgreSQL with many rows that fit each other nowhere, and statistics of them. */
import type { Client } from "pg";

const ROWS = 10_000;
/** How many rows share a value, where it names something else. */
const SHARE = 100;

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  /** The last of a primary key or a unique index. */
  readonly unique: boolean;
}

/** Foreign keys do not hold: only the planner reads these rows. */
export async function fillTables(client: Client): Promise<void> {
  const { rows } = await client.query<Column>(`
    select c.table_name as table, c.column_name as name, c.data_type as type, c.is_nullable = 'YES' as nullable,
      exists (
        select from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[i.indnkeyatts - 1]
        where i.indisunique and i.indrelid = t.oid and a.attname = c.column_name
      ) as unique
    from information_schema.columns c join pg_class t on t.relname = c.table_name and t.relkind = 'r'
    where c.table_schema = 'public' and c.table_name <> 'migrations' and c.is_generated = 'NEVER'`);
  await client.query("set session_replication_role = replica");
  for (const [table, columns] of Map.groupBy(rows, (row) => row.table)) {
    const names = columns.map(({ name }) => `"${name}"`).join(", ");
    const values = columns.map(valueOf).join(", ");
    await client.query(
      `insert into "${table}" (${names}) select ${values} from generate_series(1, ${String(ROWS)}) as n`,
    );
  }
  await client.query("vacuum analyze");
  // As if there were a hundred times as many pages to read from end to end: a million rows.
  await client.query("set seq_page_cost = 100");
}

/** One in a hundred moments has come. */
const MOMENT = "cast(extract(epoch from now()) * 1000 as bigint) + (n % 10000 - 100) * 60000";

function valueOf({ name, type, nullable, unique }: Column): string {
  const number = unique ? "n" : `n / ${String(SHARE)}`;
  if (name === "full_at") return `(${MOMENT}) * 1000`;
  if (type === "bigint" && /_at$|^until$|^not_before$/.test(name))
    return nullable ? `case when n % 10 = 0 then ${MOMENT} end` : MOMENT;
  if (type === "bigint") return unique ? "n" : "n % 4096";
  if (type === "integer") return unique ? "n" : "n % 2";
  if (type === "text")
    return nullable && !name.endsWith("_id") ? `case when n % 10 = 0 then 'v' || ${number} end` : `'v' || ${number}`;
  if (type === "tsvector") return "to_tsvector('simple', 'v' || n % 4096)";
  throw new Error(`no values of ${type}`);
}

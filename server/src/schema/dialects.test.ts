/** The same steps make the same schema on each dialect. */
import { sql } from "kysely";
import { expect, it } from "vitest";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { createDatabase } from "../../../test/kit/postgres/databases.ts";
import type { Database } from "../ports/database.ts";
import { openDatabase } from "../storage.ts";

interface Schema {
  /** `table.column type`, with `not null` and the columns of primary keys. */
  readonly columns: readonly string[];
  /** `name on table`, with `unique` and where it is partial. */
  readonly indexes: readonly string[];
}

async function rowsOf<Row>(database: Database, text: string): Promise<Row[]> {
  return database.all({ compile: () => sql.raw<Row>(text).compile(database.build) });
}

/** Tables of the index of names are each dialect's own. */
const OWN = "file_terms";

async function ofSqlite(database: Database): Promise<Schema> {
  const columns = await rowsOf<{ text: string }>(
    database,
    `select m.name || '.' || c.name || ' ' || lower(c.type) || case when c."notnull" or c.pk then ' not null' else '' end as text
     from sqlite_schema m join pragma_table_info(m.name) c where m.type = 'table' and m.name not like '${OWN}%' and m.name not like 'sqlite_%'`,
  );
  const indexes = await rowsOf<{ text: string }>(
    database,
    `select l.name || ' on ' || m.name || case when l."unique" then ' unique' else '' end || case when l.partial then ' partial' else '' end as text
     from sqlite_schema m join pragma_index_list(m.name) l where m.type = 'table' and l.origin = 'c' and m.name not like '${OWN}%'`,
  );
  return sorted(columns, indexes);
}

async function ofPostgres(database: Database): Promise<Schema> {
  const columns = await rowsOf<{ text: string }>(
    database,
    `select table_name || '.' || column_name || ' ' || data_type || case when is_nullable = 'NO' then ' not null' else '' end as text
     from information_schema.columns where table_schema = 'public' and table_name not like '${OWN}%'`,
  );
  const indexes = await rowsOf<{ text: string }>(
    database,
    `select i.relname || ' on ' || t.relname || case when x.indisunique then ' unique' else '' end
       || case when x.indpred is not null then ' partial' else '' end as text
     from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
       join pg_namespace n on n.oid = t.relnamespace
     where n.nspname = 'public' and t.relname not like '${OWN}%' and not exists (select 1 from pg_constraint c where c.conindid = i.oid)`,
  );
  return sorted(columns, indexes);
}

function sorted(columns: readonly { text: string }[], indexes: readonly { text: string }[]): Schema {
  const texts = (rows: readonly { text: string }[]) => rows.map(({ text }) => text).sort();
  return { columns: texts(columns), indexes: texts(indexes) };
}

it("PostgreSQL has the tables, columns and indexes of SQLite, and orders text by its bytes", async () => {
  await using place = await createDatabase("migrated");
  const config = { kind: "postgres", url: place.url, directUrl: null, connections: 2, sessions: true } as const;
  await using postgres = await openDatabase({ database: config });
  await using sqlite = await openDatabase({ database: { kind: "sqlite", path: `${makeDirectory()}/coffer.sqlite` } });
  const [there, here] = [await ofPostgres(postgres), await ofSqlite(sqlite)];
  expect(there.columns.length).toBeGreaterThan(200);
  expect(there.indexes.length).toBeGreaterThan(60);
  expect(there.columns).toEqual(here.columns);
  expect(there.indexes).toEqual(here.indexes);
  const other = await rowsOf<{ name: string }>(
    postgres,
    `select table_name || '.' || column_name as name from information_schema.columns
     where table_schema = 'public' and data_type = 'text' and collation_name is distinct from 'C'`,
  );
  expect(other).toEqual([]);
});

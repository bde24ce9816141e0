/** Lists of any length in statements that are compiled and planned once. */
import { type RawBuilder, sql, type SqlBool } from "kysely";
import { dialectOf, type Queries } from "../../../ports/database.ts";

/** The columns of a row as a statement's values: a type of its own, where an interface has no index. */
export type Row<Kind> = { [Column in keyof Kind]: Kind[Column] };

/** Types of the columns that a list of rows has. */
export type Columns<Name extends string = string> = Readonly<Record<Name, "text" | "integer" | "bigint">>;

/** Any number of ids as one value: so the text of a statement is always the same, and it is compiled and planned once. */
export type Ids = { readonly ids: string };

export const idsOf = (ids: readonly string[]): Ids => ({ ids: JSON.stringify(ids) });

export function isAmong(build: Queries["build"], column: string, { ids }: Ids): RawBuilder<SqlBool> {
  return dialectOf({ build }) === "postgres"
    ? sql`${sql.ref(column)} = any(array(select jsonb_array_elements_text(cast(${ids} as jsonb))))`
    : sql`${sql.ref(column)} in (select value from json_each(${ids}))`;
}

/** Any number of rows as one value, a list of objects in JSON; to be named `given`. */
export function rowsIn(build: Queries["build"], list: string, columns: Columns): RawBuilder<unknown> {
  const each = Object.entries(columns);
  if (dialectOf({ build }) === "sqlite") {
    const values = each.map(([name]) => sql`value ->> ${sql.lit(name)} as ${sql.ref(name)}`);
    return sql`(select ${sql.join(values)} from json_each(${list})) as given`;
  }
  const types = each.map(([name, type]) => sql`${sql.ref(name)} ${sql.raw(type)}`);
  return sql`jsonb_to_recordset(cast(${list} as jsonb)) as given(${sql.join(types)})`;
}

import { sql } from "kysely";
import type { Queries } from "../../ports/database.ts";
import type { Tables } from "../../ports/tables.ts";
import { BATCH } from "../store.ts";

/** A table whose rows end: the column that names a row, and the one that says when. */
export interface Ending {
  readonly table: keyof Tables;
  readonly key: string;
  readonly endsAt: string;
}

/** Deletes at most {@link BATCH} of the rows that had ended by `cutoff`, the longest ended first. Resolves with how many. */
export function deleteEnded(transaction: Queries, { table, key, endsAt }: Ending, cutoff: number): Promise<number> {
  const [from, named, end] = [sql.table(table), sql.ref(key), sql.ref(endsAt)];
  const ended = sql`select ${named} from ${from} where ${end} <= ${cutoff} order by ${end} limit ${BATCH}`;
  const query = sql`delete from ${from} where ${named} in (${ended})`;
  return transaction.run({ compile: () => query.compile(transaction.build) });
}

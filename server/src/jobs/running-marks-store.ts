/** The row of the running time. Every writer reads it first, in the same transaction. */
import { dialectOf, prepared, type Queries } from "../ports/database.ts";
import type { RunningMarkRow } from "../ports/running-tables.ts";

export type Mark = Readonly<Omit<RunningMarkRow, "id">>;

const find = prepared((build) => build.selectFrom("running_marks").selectAll().where("id", "=", 1));

/** null: no server has marked it yet. */
export function findMark(queries: Queries): Promise<Mark | null> {
  return queries.first(find(queries, {}));
}

/** The same, for nobody else to change before the transaction ends. */
export function lockMark(transaction: Queries): Promise<Mark | null> {
  const query = transaction.build.selectFrom("running_marks").selectAll().where("id", "=", 1);
  return transaction.first(dialectOf(transaction) === "postgres" ? query.forUpdate() : query);
}

export async function putMark(transaction: Queries, { total, marked_at, doubted_at, doubt }: Mark): Promise<void> {
  const row = { total, marked_at, doubted_at, doubt };
  await transaction.run(
    transaction.build
      .insertInto("running_marks")
      .values({ id: 1, ...row })
      .onConflict((conflict) => conflict.column("id").doUpdateSet(row)),
  );
}

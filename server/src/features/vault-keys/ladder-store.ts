/** The SQL of the ladder: the steps down that records of vault keys brought with them. */
import { prepared, type Queries } from "../../ports/database.ts";
import type { LadderStepRow } from "../../ports/tables.ts";
import type { PageRequest } from "../paging.ts";

export const insertStep = prepared((build, row: { vault_id: string; created_at: number; id: string; step: string }) =>
  build
    .insertInto("ladder_steps")
    .values({ vault_id: row.vault_id, created_at: row.created_at, id: row.id, step: row.step }),
);

/** Those of the newest records first, one more row than the page holds. */
export function listSteps(
  queries: Queries,
  vaultId: string,
  { after, limit }: Pick<PageRequest, "after" | "limit">,
): Promise<LadderStepRow[]> {
  let query = queries.build.selectFrom("ladder_steps").selectAll().where("vault_id", "=", vaultId);
  if (after !== null) {
    const id = after.id.replaceAll("-", "");
    query = query.where((row) => row(row.refTuple("created_at", "id"), "<", row.tuple(after.createdAt, id)));
  }
  return queries.all(
    query
      .orderBy("created_at", "desc")
      .orderBy("id", "desc")
      .limit(limit + 1),
  );
}

/** The SQL of the ladder: one step down from each place that a vault has keys of. */
import { prepared, type Queries } from "../../ports/database.ts";
import type { LadderStepRow } from "../../ports/tables.ts";
import type { PageRequest } from "../paging.ts";

/** In the place of the one that led down from there. */
export const putStep = prepared((build, row: { vault_id: string; place: string; step: string }) =>
  build
    .insertInto("ladder_steps")
    .values({ vault_id: row.vault_id, place: row.place, step: row.step })
    .onConflict((conflict) => conflict.columns(["vault_id", "place"]).doUpdateSet({ step: row.step })),
);

/** From the newest place down, one more row than the page holds. A cursor's id is a place. */
export function listSteps(
  queries: Queries,
  vaultId: string,
  { after, limit }: Pick<PageRequest, "after" | "limit">,
): Promise<LadderStepRow[]> {
  let query = queries.build.selectFrom("ladder_steps").selectAll().where("vault_id", "=", vaultId);
  if (after !== null) query = query.where("place", "<", after.id.replaceAll("-", ""));
  return queries.all(query.orderBy("place", "desc").limit(limit + 1));
}

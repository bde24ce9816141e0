import { prepared, type Queries } from "../../ports/database.ts";
import type { ChangeRow } from "../../ports/tables.ts";

/** Rows of one step: what a feed holds in memory for a reader that is slow. */
export const BATCH = 100;

const after = prepared((build, value: { accountId: string; after: number }) =>
  build
    .selectFrom("changes")
    .selectAll()
    .where("account_id", "=", value.accountId)
    .where("sequence", ">", value.after)
    .orderBy("sequence")
    .limit(BATCH),
);

/**
 * Oldest first, fewer than {@link BATCH} only at the end. Numbers are given in the order of commits (changes/store.ts), so
 * nothing ever appears behind what was read.
 */
export function listChangesAfter(queries: Queries, accountId: string, sequence: number): Promise<ChangeRow[]> {
  return queries.all(after(queries, { accountId, after: sequence }));
}

const head = prepared((build, value: { accountId: string }) =>
  build.selectFrom("accounts").select("sequence").where("id", "=", value.accountId),
);

/** Of the account's newest change; 0 before the first. */
export async function findHead(queries: Queries, accountId: string): Promise<number> {
  return (await queries.first(head(queries, { accountId })))?.sequence ?? 0;
}

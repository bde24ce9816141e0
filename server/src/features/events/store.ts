import { inPieces } from "../in-pieces.ts";
import { prepared, type Queries } from "../../ports/database.ts";

const head = prepared((build, value: { accountId: string }) =>
  build.selectFrom("accounts").select("sequence").where("id", "=", value.accountId),
);

/** The numbers of the newest changes of many accounts. */
export async function findHeads(queries: Queries, accountIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const heads = new Map<string, number>();
  await inPieces(accountIds, async (piece) => {
    const rows = await queries.all(
      queries.build.selectFrom("accounts").select(["id", "sequence"]).where("id", "in", piece),
    );
    for (const { id, sequence } of rows) heads.set(id, sequence);
  });
  return heads;
}

/** The number of the account's newest change; 0 before the first. */
export async function findHead(queries: Queries, accountId: string): Promise<number> {
  return (await queries.first(head(queries, { accountId })))?.sequence ?? 0;
}

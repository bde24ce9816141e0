import { prepared, type Queries } from "../../ports/database.ts";

const head = prepared((build, value: { accountId: string }) =>
  build.selectFrom("accounts").select("sequence").where("id", "=", value.accountId),
);

/** Of the account's newest change; 0 before the first. */
export async function findHead(queries: Queries, accountId: string): Promise<number> {
  return (await queries.first(head(queries, { accountId })))?.sequence ?? 0;
}

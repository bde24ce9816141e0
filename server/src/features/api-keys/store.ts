import { prepared, type Session } from "../../ports/database.ts";
import type { ApiKeyRow } from "../../ports/tables.ts";
import type { PageRequest } from "../paging.ts";

export const findKey = prepared((build, value: { accountId: string; id: string }) =>
  build.selectFrom("api_keys").selectAll().where("id", "=", value.id).where("account_id", "=", value.accountId),
);

const listFirst = prepared((build, value: { accountId: string; limit: number }) =>
  build
    .selectFrom("api_keys")
    .selectAll()
    .where("account_id", "=", value.accountId)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(value.limit),
);

const listAfter = prepared((build, value: { accountId: string; limit: number; createdAt: number; id: string }) =>
  build
    .selectFrom("api_keys")
    .selectAll()
    .where("account_id", "=", value.accountId)
    .where((row) => row(row.refTuple("created_at", "id"), "<", row.tuple(value.createdAt, value.id)))
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(value.limit),
);

/** One row more than the page holds, so that the caller can tell whether another page follows. */
export function listKeys(session: Session, accountId: string, page: PageRequest): Promise<ApiKeyRow[]> {
  const limit = page.limit + 1;
  if (page.after === null) return session.all(listFirst(session, { accountId, limit }));
  return session.all(listAfter(session, { accountId, limit, ...page.after }));
}

/** Keys that still open the account: neither revoked nor expired. */
export const countLiveKeys = prepared((build, value: { accountId: string; now: number }) =>
  build
    .selectFrom("api_keys")
    .select((row) => row.fn.countAll<number>().as("live"))
    .where("account_id", "=", value.accountId)
    .where("revoked_at", "is", null)
    .where((row) => row.or([row("expires_at", "is", null), row("expires_at", ">", value.now)])),
);

export async function insertKey(transaction: Session, row: ApiKeyRow): Promise<void> {
  await transaction.run(transaction.build.insertInto("api_keys").values(row));
}

/** Changes nothing for a key that is revoked already: the first time counts. */
export const revokeKey = prepared((build, value: { accountId: string; id: string; now: number }) =>
  build
    .updateTable("api_keys")
    .set({ revoked_at: value.now })
    .where("id", "=", value.id)
    .where("account_id", "=", value.accountId)
    .where("revoked_at", "is", null),
);

/** Brings the end of a live key forward; never puts it off. */
export const endKeyAt = prepared((build, value: { accountId: string; id: string; at: number }) =>
  build
    .updateTable("api_keys")
    .set({ expires_at: value.at })
    .where("id", "=", value.id)
    .where("account_id", "=", value.accountId)
    .where((row) => row.or([row("expires_at", "is", null), row("expires_at", ">", value.at)])),
);

/** How many of the ids are vaults of the account. */
export async function countVaults(session: Session, accountId: string, vaultIds: readonly string[]): Promise<number> {
  const query = session.build
    .selectFrom("vaults")
    .select((row) => row.fn.countAll<number>().as("found"))
    .where("account_id", "=", accountId)
    .where("id", "in", [...vaultIds]);
  return (await session.first(query))?.found ?? 0;
}

import { prepared, type Queries } from "../../ports/database.ts";
import type { ApiKeyRow } from "../../ports/tables.ts";
import { newest } from "../newest-store.ts";

export const findKey = prepared((build, value: { accountId: string; id: string }) =>
  build.selectFrom("api_keys").selectAll().where("id", "=", value.id).where("account_id", "=", value.accountId),
);

/** One row more than the page holds, newest first. */
export const listKeys = newest((build, value: { accountId: string }) =>
  build.selectFrom("api_keys").selectAll().where("account_id", "=", value.accountId),
);

/** Keys that still open the account: neither revoked nor expired. */
export const countLiveKeys = prepared((build, value: { accountId: string; now: number }) =>
  build
    .selectFrom("api_keys")
    .select((row) => row.fn.countAll<number>().as("live"))
    .where("account_id", "=", value.accountId)
    .where("revoked_at", "is", null)
    .where((row) => row.or([row("expires_at", "is", null), row("expires_at", ">", value.now)])),
);

export async function insertKey(transaction: Queries, row: ApiKeyRow): Promise<void> {
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

/** Brings the end of a valid key forward; never puts it off. */
export const endKeyAt = prepared((build, value: { accountId: string; id: string; at: number }) =>
  build
    .updateTable("api_keys")
    .set({ expires_at: value.at })
    .where("id", "=", value.id)
    .where("account_id", "=", value.accountId)
    .where((row) => row.or([row("expires_at", "is", null), row("expires_at", ">", value.at)])),
);

/** Those of the ids that are vaults of the account. */
export async function findVaultIds(
  queries: Queries,
  accountId: string,
  vaultIds: readonly string[],
): Promise<readonly string[]> {
  if (vaultIds.length === 0) return [];
  const query = queries.build
    .selectFrom("vaults")
    .select("id")
    .where("account_id", "=", accountId)
    .where("purging_bytes", "is", null)
    .where("id", "in", [...vaultIds]);
  return (await queries.all(query)).map(({ id }) => id);
}

/** A key of any account that still opens it and is bound to the address. */
export const findLiveKeyOf = prepared((build, value: { chainAddress: string; now: number }) =>
  build
    .selectFrom("api_keys")
    .select(["id", "account_id"])
    .where("chain_address", "=", value.chainAddress)
    .where("revoked_at", "is", null)
    .where((row) => row.or([row("expires_at", "is", null), row("expires_at", ">", value.now)]))
    .limit(1),
);

/** Ends the account's expired keys with the address for good. */
export const revokeExpiredKeysOf = prepared((build, value: { accountId: string; chainAddress: string; now: number }) =>
  build
    .updateTable("api_keys")
    .set({ revoked_at: value.now })
    .where("account_id", "=", value.accountId)
    .where("chain_address", "=", value.chainAddress)
    .where("revoked_at", "is", null)
    .where("expires_at", "<=", value.now)
    .returning(["id", "account_id"]),
);

/** What authentication looks up by hash on every request (specification §5.3): compiled once, and indexed. */
export interface CredentialRow {
  id: string;
  account_id: string;
  name: string;
  scopes_json: string | null;
  vault_ids_json: string | null;
  chain_address: string | null;
  budgets_json: string | null;
  expires_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
  account_chain_address: string | null;
}

export const findCredential = prepared(
  (build, value: { hash: string }) =>
    build
      .selectFrom("api_keys")
      .innerJoin("accounts", "accounts.id", "api_keys.account_id")
      .select([
        "api_keys.id as id",
        "api_keys.account_id as account_id",
        "api_keys.name as name",
        "api_keys.scopes_json as scopes_json",
        "api_keys.vault_ids_json as vault_ids_json",
        "api_keys.chain_address as chain_address",
        "api_keys.budgets_json as budgets_json",
        "api_keys.expires_at as expires_at",
        "api_keys.revoked_at as revoked_at",
        "api_keys.last_used_at as last_used_at",
        "accounts.chain_address as account_chain_address",
      ])
      .where("api_keys.hash", "=", value.hash),
  { remembered: true, onArrival: true },
);

export const findAccountForDevelopment = {
  byId: prepared((build, value: { id: string }) =>
    build.selectFrom("accounts").select(["id", "chain_address"]).where("id", "=", value.id),
  ),
  byIdp: prepared((build, value: { idpId: string }) =>
    build
      .selectFrom("accounts")
      .select(["id", "chain_address"])
      .where("idp_id", "=", value.idpId)
      .orderBy("created_at"),
  ),
};

export const findFirstAccount = prepared((build, _none: Record<never, never>) =>
  build.selectFrom("accounts").select(["id", "chain_address"]).orderBy("created_at").orderBy("id").limit(1),
);

/** Marks a key that was refused for its age, so that no step of the clock back brings it to life. */
export const expireKey = prepared((build, value: { id: string }) =>
  build
    .updateTable("api_keys")
    .set((row) => ({ revoked_at: row.ref("expires_at") }))
    .where("id", "=", value.id)
    .where("revoked_at", "is", null)
    .where("expires_at", "is not", null),
);

export const touchKey = prepared((build, value: { id: string; at: number }) =>
  build
    .updateTable("api_keys")
    .set({ last_used_at: value.at })
    .where("id", "=", value.id)
    // Another process may have seen it later.
    .where((row) => row.or([row("last_used_at", "is", null), row("last_used_at", "<", value.at)])),
);

/** The look-ups of authentication: by hash on every request (specification §5.3), so compiled once and indexed. */
import { prepared } from "../../ports/database.ts";

export interface CredentialRow {
  id: string;
  account_id: string;
  name: string;
  scopes_json: string | null;
  vault_ids_json: string | null;
  chain_address: string | null;
  expires_at: number | null;
  revoked_at: number | null;
  account_chain_address: string | null;
}

export const findCredential = prepared((build, value: { hash: string }) =>
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
      "api_keys.expires_at as expires_at",
      "api_keys.revoked_at as revoked_at",
      "accounts.chain_address as account_chain_address",
    ])
    .where("api_keys.hash", "=", value.hash),
);

export const findKeyLife = prepared((build, value: { id: string }) =>
  build.selectFrom("api_keys").select(["revoked_at", "expires_at"]).where("id", "=", value.id),
);

export const findAccountForDevelopment = {
  byId: prepared((build, value: { id: string }) =>
    build.selectFrom("accounts").select(["id", "chain_address"]).where("id", "=", value.id),
  ),
  byIdp: prepared((build, value: { idpId: string }) =>
    build.selectFrom("accounts").select(["id", "chain_address"]).where("idp_id", "=", value.idpId),
  ),
};

export const findFirstAccount = prepared((build, _none: Record<never, never>) =>
  build.selectFrom("accounts").select(["id", "chain_address"]).orderBy("created_at").orderBy("id").limit(1),
);

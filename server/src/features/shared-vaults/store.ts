/** The SQL of who sees a shared vault. */
import { prepared, type Queries } from "../../ports/database.ts";
import type { OwnedVault } from "../vaults/store.ts";

const ofMember = prepared((build, value: { id: string; chainAddress: string }) =>
  build
    .selectFrom("vaults")
    .innerJoin("accounts", "accounts.id", "vaults.account_id")
    .innerJoin("vault_members", "vault_members.vault_id", "vaults.id")
    .selectAll("vaults")
    .select("accounts.default_vault_id")
    .where("vaults.id", "=", value.id)
    .where("vault_members.chain_address", "=", value.chainAddress)
    .where("vault_members.removed_at", "is", null),
);

/** A vault, of whatever account, that records the address as a member. */
export function findVaultOfMember(
  queries: Queries,
  value: { id: string; chainAddress: string },
): Promise<OwnedVault | null> {
  return queries.first(ofMember(queries, value));
}

const addressOf = prepared((build, value: { accountId: string }) =>
  build.selectFrom("accounts").select("chain_address").where("id", "=", value.accountId),
);

export async function findAccountAddress(queries: Queries, accountId: string): Promise<string | null> {
  return (await queries.first(addressOf(queries, { accountId })))?.chain_address ?? null;
}

/** What was last read of the object; never an older generation than what stands. */
export const noteChainFacts = prepared((build, value: { id: string; generation: number; ownerAddress: string }) =>
  build
    .updateTable("vaults")
    .set({ chain_generation: value.generation, owner_address: value.ownerAddress })
    .where("id", "=", value.id)
    .where("chain_generation", "<=", value.generation),
);

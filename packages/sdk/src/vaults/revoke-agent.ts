/** Ending an agent: its key, its memberships, and what it could read of what comes later. One act over three layers, safe to repeat. */
import { apiKeysGroup } from "@coffer/contract/api-keys";
import { clientApi as api, type Vault } from "@coffer/contract";
import { findMember } from "@coffer/chain";
import { callOn, type CallOptions } from "../call.ts";
import type { Connection } from "../options.ts";
import { REVOKED } from "./effects.ts";
import { removeVaultMember } from "./members.ts";
import { inVaultTerms, VaultError } from "./vault-error.ts";
import { vaultSession } from "./vault-session.ts";

/** What became of the agent in one vault. */
export interface RevokedMembership {
  readonly vaultId: string;
  /** `removed` by this call, or `absent`: the allowlist does not name it. */
  readonly outcome: "removed" | "absent";
  /** Files written from now on are of this generation or a later one. */
  readonly generation: bigint;
}

export interface RevokedAgent {
  readonly keyId: string;
  /** null: the key was bound to no address, so it was a member of nothing. */
  readonly chainAddress: string | null;
  /** One for each shared vault of the account. */
  readonly memberships: readonly RevokedMembership[];
  /** In words, for people: what is closed to the agent now, and what is not. */
  readonly effect: string;
}

/**
 * The key first, so that the agent is cut off at once; then its address from every shared vault of the account, each on the chain and at
 * the service. After a failure at any point the same call goes on: what is done is not done again.
 */
export async function revokeAgent(connection: Connection, keyId: string, options?: CallOptions): Promise<RevokedAgent> {
  const session = vaultSession(connection);
  const { apiKey } = await callOn(connection, apiKeysGroup.get, { params: { keyId } }, options);
  const { chainAddress } = apiKey;
  if (chainAddress === session.signer.chainAddress)
    throw new VaultError("is_owner", "The key is bound to the owner's own address", {
      nextStep: "Revoke it with apiKeys.revoke.",
    });
  await callOn(connection, apiKeysGroup.revoke, { params: { keyId } }, options);
  const memberships: RevokedMembership[] = [];
  if (chainAddress !== null)
    for (const vault of await listSharedVaults(connection, options))
      memberships.push(await endMembership(connection, vault, chainAddress, options));
  return { keyId, chainAddress, memberships, effect: REVOKED };
}

async function listSharedVaults(connection: Connection, options?: CallOptions): Promise<Vault[]> {
  const vaults: Vault[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const query = { type: "shared", limit: 1000, ...(cursor === undefined ? {} : { cursor }) } as const;
    const page = await callOn(connection, api.vaults.list, { query }, options);
    vaults.push(...page.vaults);
    cursor = page.nextCursor;
  }
  return vaults;
}

/** The service is told even where the chain has nothing to remove: an earlier run may have ended between the two. */
async function endMembership(
  connection: Connection,
  { id: vaultId }: Vault,
  chainAddress: string,
  options?: CallOptions,
): Promise<RevokedMembership> {
  const session = vaultSession(connection);
  const pin = await session.pin(vaultId, options);
  const before = await inVaultTerms(() => session.chain.readVault(pin.chainObjectId ?? "", { maxAge: 0 }));
  const outcome = findMember(before, chainAddress) === null ? "absent" : "removed";
  const { generation } = await removeVaultMember(connection, vaultId, chainAddress, options);
  return { vaultId, outcome, generation };
}

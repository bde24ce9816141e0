/** Ending an agent: its key, its memberships, and what it could read of what comes later. One act over three layers, safe to repeat. */
import { apiKeysGroup } from "@coffer/contract/api-keys";
import { clientApi as api } from "@coffer/contract";
import { type ActWarning, findMember } from "@coffer/chain";
import { callOn } from "../../call.ts";
import type { Connection, CallOptions } from "../../options.ts";
import { REVOKED } from "../effects.ts";
import { endMember } from "./members.ts";
import { vaultError } from "../vault-error.ts";
import { inVaultTerms } from "../vault-terms.ts";
import { vaultSession } from "../vault-session.ts";

/** What became of the agent in one vault. */
export interface RevokedMembership {
  readonly vaultId: string;
  /** `removed` by this call, or `absent`: the allowlist does not name it. */
  readonly outcome: "removed" | "absent";
  /** Files written from now on are of this generation or a later one. */
  readonly generation: bigint;
  /** What to know of how it went, or of the vault: empty when there is nothing. */
  readonly warnings: readonly ActWarning[];
}

export interface RevokedAgent {
  readonly keyId: string;
  /** null: the key was bound to no address, so it was a member of nothing. */
  readonly chainAddress: string | null;
  /** One for each shared vault of the account that the service lists, and for those that were given. */
  readonly memberships: readonly RevokedMembership[];
  /** In words, for people: what is closed to the agent now, and what is not. */
  readonly effect: string;
}

/** Of {@link revokeAgent}: what the owner knows, where the service is not to be believed about it. */
export interface RevokeOptions extends CallOptions {
  /** The agent's address: if the service binds the key to another one, nothing is done. */
  readonly chainAddress?: string | undefined;
  /** Vaults that it is taken off also when the service does not list them. */
  readonly vaultIds?: readonly string[] | undefined;
}

/**
 * The key first, so that the agent is cut off at once; then its address from every shared vault of the account, each on the chain and at
 * the service. After a failure at any point the same call goes on: what is done is not done again; where it fails in one vault, the others are
 * done all the same, and then the failure is thrown. Which address the key has, and which
 * vaults there are, is the service's word unless the options say it.
 * @throws VaultError `vault_changed` for a key that the service binds to another address than the given one; `is_owner`.
 */
export async function revokeAgent(
  connection: Connection,
  keyId: string,
  { chainAddress: expected, vaultIds = [], ...options }: RevokeOptions = {},
): Promise<RevokedAgent> {
  const session = vaultSession(connection);
  const { apiKey } = await callOn(connection, apiKeysGroup.get, { params: { keyId } }, options);
  const { chainAddress } = apiKey;
  if (expected !== undefined && chainAddress !== expected)
    throw vaultError(
      "vault_changed",
      `The service binds the key to ${chainAddress ?? "no address"}, not to ${expected}`,
      {
        nextStep:
          "Revoke the key with apiKeys.revoke, and remove the address that you know with vaults.members.remove.",
      },
    );
  if (chainAddress === session.signer.chainAddress)
    throw vaultError("is_owner", "The key is bound to the owner's own address", {
      nextStep: "Revoke it with apiKeys.revoke.",
    });
  await callOn(connection, apiKeysGroup.revoke, { params: { keyId } }, options);
  const memberships = chainAddress === null ? [] : await endAll(connection, chainAddress, vaultIds, options);
  return { keyId, chainAddress, memberships, effect: REVOKED };
}

/** A vault in which it fails keeps the agent in no other: the failure is told when all were gone through. */
async function endAll(
  connection: Connection,
  chainAddress: string,
  known: readonly string[],
  options: CallOptions,
): Promise<RevokedMembership[]> {
  const memberships: RevokedMembership[] = [];
  const failures: unknown[] = [];
  const attempt = async (vaultId: string): Promise<void> => {
    options.signal?.throwIfAborted();
    try {
      memberships.push(await endMembership(connection, vaultId, chainAddress, options));
    } catch (error) {
      failures.push(error);
    }
  };
  // What the owner knows comes first: what the service lists may be endless, or fail.
  for (const vaultId of new Set(known)) await attempt(vaultId);
  for (const vaultId of await listSharedVaults(connection, options))
    if (!known.includes(vaultId)) await attempt(vaultId);
  if (failures.length > 0) throw failures[0];
  return memberships;
}

async function listSharedVaults(connection: Connection, options: CallOptions): Promise<string[]> {
  const vaultIds: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const query = { type: "shared", limit: 1000, ...(cursor === undefined ? {} : { cursor }) } as const;
    const page = await callOn(connection, api.vaults.list, { query }, options);
    vaultIds.push(...page.vaults.map(({ id }) => id));
    cursor = page.nextCursor;
  }
  return vaultIds;
}

/** The service is told even where the chain has nothing to remove: an earlier run may have ended between the two. */
async function endMembership(
  connection: Connection,
  vaultId: string,
  chainAddress: string,
  options: CallOptions,
): Promise<RevokedMembership> {
  const session = vaultSession(connection);
  // What the service lists is read, and not pinned.
  const vault = await session.look(vaultId, options);
  if (vault === null) throw vaultError("shared_vault", `Vault ${vaultId} is public`);
  const objectId = vault.pin.chainObjectId ?? "";
  const before = await inVaultTerms(() => session.chain.readVault(objectId, { maxAge: 0 }));
  const outcome = findMember(before, chainAddress) === null ? "absent" : "removed";
  const { generation, warnings } = await endMember(connection, vault, chainAddress, options);
  return { vaultId, outcome, generation, warnings };
}

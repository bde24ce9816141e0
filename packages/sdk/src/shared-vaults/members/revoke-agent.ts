/** Removing an agent: its key, its memberships, and its access to later files. One act over three layers, safe to repeat. */
import { apiKeysGroup, vaultsGroup } from "@coffer/contract";
import { type ActWarning, findMember } from "@coffer/chain";
import { callOn } from "../../http/call.ts";
import { everyPage, MAX_PAGES_IN_MEMORY, type PageCursor } from "../../http/every-page.ts";
import type { Connection, CallOptions } from "../../connection/options.ts";
import { REVOKED } from "../effect-texts.ts";
import { endMember } from "./members.ts";
import { publicVault, vaultError } from "../vault-error.ts";
import { inVaultTerms } from "../vault-terms.ts";
import { vaultRegistry } from "../client-vaults.ts";

/** The agent's state in one vault. */
export interface RevokedMembership {
  /** UUID of the vault. */
  readonly vaultId: string;
  /** `removed` by this call, or `absent`: the allowlist does not name it. */
  readonly outcome: "removed" | "absent";
  /** Files written from now on are of this generation or a later one. */
  readonly generation: number;
  /** Remarks about the act or the vault; empty if there are none. */
  readonly warnings: readonly ActWarning[];
}

/** What removing an agent has done. */
export interface RevokedAgent {
  /** UUID of the API key. */
  readonly keyId: string;
  /** null: the key was bound to no address, so it was a member of nothing. */
  readonly chainAddress: string | null;
  /** One for each shared vault of the account that the service lists, and for the given ones. */
  readonly memberships: readonly RevokedMembership[];
  /** What is closed to the agent now, and what is not, in words for people. */
  readonly effect: string;
}

/** Options of {@link revokeAgent}: the owner's own facts, where the service's word is not enough. */
export interface RevokeOptions extends CallOptions {
  /** The agent's address: if the service binds the key to another one, the call does nothing. Default: any address. */
  readonly chainAddress?: string | undefined;
  /** More vaults to take it off, also when the service does not list them. Default: none. */
  readonly vaultIds?: readonly string[] | undefined;
}

/**
 * Revokes the key first, so that the agent is cut off at once. Then it removes the agent's address from every shared
 * vault of the account, each on the chain and at the service. After a failure at any point the same call goes on, and
 * skips finished steps. If it fails in one vault, it goes on with the others and then throws that failure. Without the
 * options, the service's word decides which address the key has, and which vaults there are.
 * @throws VaultError `vault_changed` for a key that the service binds to another address than the given one;
 * `is_owner`.
 */
export async function revokeAgent(
  connection: Connection,
  keyId: string,
  { chainAddress: expected, vaultIds = [], ...options }: RevokeOptions = {},
): Promise<RevokedAgent> {
  const registry = vaultRegistry(connection);
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
  if (chainAddress === registry.signer.chainAddress)
    throw vaultError("is_owner", "The key is bound to the owner's own address", {
      nextStep: "Revoke it with apiKeys.revoke.",
    });
  await callOn(connection, apiKeysGroup.revoke, { params: { keyId } }, options);
  const memberships = chainAddress === null ? [] : await endAll(connection, chainAddress, vaultIds, options);
  return { keyId, chainAddress, memberships, effect: REVOKED };
}

/** A failure in one vault keeps the agent in no other: the failure is thrown after all vaults. */
async function endAll(
  connection: Connection,
  chainAddress: string,
  vaultIds: readonly string[],
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
  // The owner's own list comes first: the service's list may be endless, or fail.
  for (const vaultId of new Set(vaultIds)) await attempt(vaultId);
  for (const vaultId of await listSharedVaults(connection, options))
    if (!vaultIds.includes(vaultId)) await attempt(vaultId);
  if (failures.length > 0) throw failures[0];
  return memberships;
}

async function listSharedVaults(connection: Connection, options: CallOptions): Promise<string[]> {
  const { list } = vaultsGroup;
  const load = (place: PageCursor) =>
    callOn(connection, list, { query: { type: "shared", limit: 1000, ...place } }, options);
  const vaultIds: string[] = [];
  for await (const { vaults } of everyPage(list.id, load, MAX_PAGES_IN_MEMORY))
    vaultIds.push(...vaults.map(({ id }) => id));
  return vaultIds;
}

/** The service gets the call even if the chain has nothing to remove: an earlier run may have ended between the two. */
async function endMembership(
  connection: Connection,
  vaultId: string,
  chainAddress: string,
  options: CallOptions,
): Promise<RevokedMembership> {
  const registry = vaultRegistry(connection);
  // Vaults that the service lists are read, and not pinned.
  const vault = await registry.findUnpinned(vaultId, options);
  if (vault === null) throw publicVault();
  const objectId = vault.pin.chainObjectId ?? "";
  const before = await inVaultTerms(() => registry.chain.readVault(objectId, { maxAge: 0 }));
  const outcome = findMember(before, chainAddress) === null ? "absent" : "removed";
  const { generation, warnings } = await endMember(connection, vault, chainAddress, options);
  return { vaultId, outcome, generation, warnings };
}

/** Which chain address is the account's (specification §2.6; decisions §4, "access level"). */
import type { Deps } from "../../deps.ts";
import type { Principal, RequestOrigin } from "../../handler.ts";
import { isTaken, type Queries } from "../../ports/database.ts";
import type { AccountRow } from "../../ports/tables.ts";
import { ServiceError } from "../../service-error.ts";
import { isUnread } from "../../unread-chain.ts";
import { type Maker, recordKeyChange } from "../api-keys/creation.ts";
import { findLiveKeyOf, revokeExpiredKeysOf } from "../api-keys/store.ts";
import type { AccountAct } from "../account/act.ts";
import { findAccount, findAccountByAddress, findSharedVault, lockAddress } from "../account/store.ts";
import { readChainVault } from "../reach/chain-vaults.ts";

/** How many vaults of an account are looked at before its address changes. */
const MOST_TRANSFERS = 50;

export interface WantedLink {
  readonly chainAddress: string;
  /** Ed25519 in base64; null where another kind of signer proved the address. */
  readonly chainPublicKey: string | null;
  readonly source: "external" | "zklogin";
  /** null: somebody who is signing in, from `origin`. */
  readonly actor: Principal | null;
  readonly origin?: RequestOrigin;
}

/**
 * Links an address whose holder has proven to be there; linking it again changes nothing. Throws `address_conflict`
 * when the address is another account's, or a live key of any account holds it: an agent's key would become an
 * owner's. It throws also when the account would lose an address that it still needs.
 */
export async function linkAddress(
  { clock }: Pick<Deps, "clock">,
  act: AccountAct,
  wanted: WantedLink,
): Promise<Readonly<AccountRow>> {
  const { chainAddress, chainPublicKey, source } = wanted;
  const { account } = act;
  if (account.chain_address === chainAddress) return account;
  const now = clock.now();
  await lockAddress(act, chainAddress);
  await requireFree(act, chainAddress, now);
  if (account.chain_address !== null) await requireLeavable(act, wanted, account.chain_address);
  await endExpiredKeys(act, wanted, now);
  const columns = { chain_address: chainAddress, chain_public_key: chainPublicKey, chain_address_source: source };
  act.change({ ...columns, updated_at: now });
  const target = { kind: "account", id: account.id };
  await act.record({ ...makerOf(wanted), action: "account.chain_linked", target });
  await writeOrConflict(act);
  return act.account;
}

async function requireFree(transaction: Queries, chainAddress: string, now: number): Promise<void> {
  if ((await transaction.first(findAccountByAddress(transaction, { chainAddress }))) !== null) throw taken();
  if ((await transaction.first(findLiveKeyOf(transaction, { chainAddress, now }))) !== null) {
    throw new ServiceError(
      "address_conflict",
      "A live API key is bound to the chain address: linking would make it the owner's",
    );
  }
}

/**
 * Reads on the chain whether shared vaults of the account have gone to other owners, up to the first that has not.
 * {@link linkAddress} decides by their rows. Never inside a transaction. A chain that does not answer leaves them as
 * they are.
 */
export async function recordTransfers(deps: Pick<Deps, "database" | "chain">, accountId: string): Promise<void> {
  const { database } = deps;
  const account = await database.first(findAccount(database, { id: accountId }));
  const chainAddress = account?.chain_address ?? null;
  if (chainAddress === null) return;
  for (let reads = 0; reads < MOST_TRANSFERS; reads += 1) {
    const vault = await database.first(findSharedVault(database, { accountId, chainAddress }));
    if (vault === null) return;
    try {
      const { owner } = await readChainVault(deps, vault, { maxAge: 0 });
      if (owner.address === chainAddress) return;
    } catch (error) {
      if (isUnread(error)) return;
      throw error;
    }
  }
}

/** A shared vault is bound to its owner's address: until its ownership is transferred the account keeps that address. */
async function requireLeavable(act: AccountAct, { actor }: WantedLink, chainAddress: string): Promise<void> {
  const accountId = act.account.id;
  if ((await act.first(findSharedVault(act, { accountId, chainAddress }))) !== null) {
    throw new ServiceError(
      "address_conflict",
      "Transfer every shared vault, or delete it for good, before linking another address",
    );
  }
  // Such a key would become an agent's by its own act, and perhaps nothing could act as the owner any more.
  if (actor?.kind === "api-key" && actor.chainAddress !== null) {
    throw new ServiceError(
      "address_conflict",
      "This key is bound to the address that is linked now: link another one with a session or an unbound key",
    );
  }
}

/** An expired key with the address would be an owner's if the clock were set back: it ends for good first. */
async function endExpiredKeys(act: AccountAct, wanted: WantedLink, now: number): Promise<void> {
  const { chainAddress } = wanted;
  const ended = await act.all(revokeExpiredKeysOf(act, { accountId: act.account.id, chainAddress, now }));
  for (const row of ended) {
    const key = { ...row, chain_address: chainAddress };
    await recordKeyChange(act, "api_key.revoked", makerOf(wanted), key);
  }
}

function makerOf({ actor, origin }: WantedLink): Maker {
  return origin === undefined ? { actor } : { actor, origin };
}

async function writeOrConflict(act: AccountAct): Promise<void> {
  try {
    await act.write();
  } catch (error) {
    // Linked by another account at the same moment: the index on the address decides.
    throw isTaken(error, "accounts_chain_address") ? taken() : error;
  }
}

function taken(): ServiceError {
  return new ServiceError("address_conflict", "Another account has linked the chain address");
}

/** Which chain address is the account's (specification §2.6; decisions §4, "access level"). */
import type { Deps } from "../../deps.ts";
import { ServiceError } from "../../http/errors.ts";
import type { Principal, RequestOrigin } from "../../http/handlers.ts";
import { ConstraintError, type Session } from "../../ports/database.ts";
import type { AccountRow } from "../../ports/tables.ts";
import { type Maker, recordKeyChange } from "../api-keys/creation.ts";
import { findLiveKeyOf, revokeExpiredKeysOf } from "../api-keys/store.ts";
import { recordChange } from "../changes/store.ts";
import { findAccountByAddress, findSharedVault, holdAccount, setChainAddress } from "./store.ts";

type Needs = Pick<Deps, "clock" | "random" | "settings">;

export interface WantedLink {
  readonly accountId: string;
  readonly chainAddress: string;
  readonly source: "external" | "zklogin";
  /** null: somebody who is signing in, from `origin`. */
  readonly actor: Principal | null;
  readonly origin?: RequestOrigin;
}

/**
 * Links an address whose holder has proven to be there; linking it again changes nothing. Throws `address_conflict` when
 * the address is another account's, when a live key of any account holds it (an agent's key would become an owner's), and
 * when the account would leave an address that it still needs.
 */
export async function linkAddress(deps: Needs, transaction: Session, wanted: WantedLink): Promise<AccountRow> {
  const { accountId, chainAddress, source } = wanted;
  const account = await transaction.first(holdAccount(transaction, { id: accountId }));
  if (account === null) throw new ServiceError("invalid_credential");
  if (account.chain_address === chainAddress) return account;
  const now = deps.clock.now();
  await requireFree(transaction, chainAddress, now);
  if (account.chain_address !== null) await requireLeavable(transaction, wanted);
  await endExpiredKeys(deps, transaction, wanted, now);
  const linked = await setAddress(transaction, { id: accountId, chainAddress, source, now });
  await recordChange(transaction, {
    ...makerOf(wanted),
    ...{ accountId, action: "account.chain_linked", target: { kind: "account", id: accountId } },
    occurredAt: now,
    id: deps.random.uuid(),
  });
  return linked;
}

async function requireFree(transaction: Session, chainAddress: string, now: number): Promise<void> {
  if ((await transaction.first(findAccountByAddress(transaction, { chainAddress }))) !== null) throw taken();
  if ((await transaction.first(findLiveKeyOf(transaction, { chainAddress, now }))) !== null) {
    throw new ServiceError(
      "address_conflict",
      "A live API key is bound to the chain address: linking would make it the owner's",
    );
  }
}

/**
 * A shared vault is bound to its owner's address: until its ownership is transferred the account keeps that address. None
 * can exist in a build that refuses to create them; the rule is here before they are.
 */
async function requireLeavable(transaction: Session, { accountId, actor }: WantedLink): Promise<void> {
  if ((await transaction.first(findSharedVault(transaction, { accountId }))) !== null) {
    throw new ServiceError("address_conflict", "Transfer every shared vault before linking another address");
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
async function endExpiredKeys(deps: Needs, transaction: Session, wanted: WantedLink, now: number): Promise<void> {
  const { accountId, chainAddress } = wanted;
  const ended = await transaction.all(revokeExpiredKeysOf(transaction, { accountId, chainAddress, now }));
  for (const row of ended) {
    const key = { ...row, chain_address: chainAddress };
    await recordKeyChange(deps, transaction, "api_key.revoked", makerOf(wanted), key);
  }
}

function makerOf({ actor, origin }: WantedLink): Maker {
  return origin === undefined ? { actor } : { actor, origin };
}

async function setAddress(
  transaction: Session,
  value: { id: string; chainAddress: string; source: string; now: number },
): Promise<AccountRow> {
  try {
    const linked = await transaction.first(setChainAddress(transaction, value));
    if (linked === null) throw new Error("the account of a request does not exist");
    return linked;
  } catch (error) {
    // Linked by another account at the same moment: the index on the address decides.
    throw error instanceof ConstraintError ? taken() : error;
  }
}

function taken(): ServiceError {
  return new ServiceError("address_conflict", "Another account has linked the chain address");
}

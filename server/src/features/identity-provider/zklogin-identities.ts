/** The chain address of an identity, and the salt that keeps the two apart (specification §5.5). */
import type { Deps } from "../../deps.ts";
import type { Queries } from "../../ports/database.ts";
import type { Identity } from "../../ports/identity-provider.ts";
import type { AccountRow } from "../../ports/tables.ts";
import type { EphemeralKey } from "../../ports/zklogin.ts";
import { findAccount } from "../account/store.ts";
import { failAtClaims, failAtKey } from "./provider-failures.ts";
import { keepSalt } from "./store.ts";

const SALT_PURPOSE = "zklogin-salt";
const SALT_BYTES = 16;

export interface ZkloginIdentity {
  readonly chainAddress: string;
  /** Decimal. A secret: with it, who knows the identity knows the address. */
  readonly salt: string;
}

/**
 * The account's salt, made once: 128 random bits, encrypted under the master key. Parallel first sign-ins agree, because
 * only the first UPDATE finds none; all of them read what it wrote. Not derived from a seed: that could never be replaced
 * without moving everybody to another address.
 */
export async function saltOf(
  deps: Pick<Deps, "random" | "atRest">,
  transaction: Queries,
  account: AccountRow,
): Promise<string> {
  const { id } = account;
  const known = saltKeptFor(deps.atRest, account);
  if (known !== null) return known;
  const salt = BigInt(`0x${Buffer.from(deps.random.bytes(SALT_BYTES)).toString("hex")}`).toString();
  const made = deps.atRest.protect(salt, SALT_PURPOSE, id);
  if ((await transaction.first(keepSalt(transaction, { id, salt: made }))) !== null) return salt;
  const now = await transaction.first(findAccount(transaction, { id }));
  const kept = now === null ? null : saltKeptFor(deps.atRest, now);
  if (kept === null) throw new Error("the account of a sign-in does not exist");
  return kept;
}

/** null: the account has none. Throws under another master key than the one it was encrypted with. */
export function saltKeptFor(
  atRest: Deps["atRest"],
  { id, zklogin_salt: salt }: Pick<AccountRow, "id" | "zklogin_salt">,
): string | null {
  return salt === null ? null : atRest.reveal(salt, SALT_PURPOSE, id);
}

/** Rejects with `provider_refused` for claims that zkLogin cannot take. */
export function addressOf(
  { zklogin }: Pick<Deps, "zklogin">,
  { issuer, audience, subject }: Identity,
  salt: string,
): Promise<string> {
  return zklogin.addressOf({ issuer, audience, subject, salt }).catch(failAtClaims);
}

/** Rejects with `proof_invalid` for a key that cannot be one. */
export function nonceOf({ zklogin }: Pick<Deps, "zklogin">, key: EphemeralKey): Promise<string> {
  return zklogin.nonceOf(key).catch(failAtKey);
}

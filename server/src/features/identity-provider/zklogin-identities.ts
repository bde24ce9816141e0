/** The chain address of an identity, and the salt that keeps the two apart (specification §5.5). */
import type { Deps } from "../../deps.ts";
import type { Identity } from "../../ports/identity-provider.ts";
import type { AccountRow } from "../../ports/tables.ts";
import type { EphemeralKey } from "../../ports/zklogin.ts";
import type { AccountAct } from "../account/act.ts";
import { failAtClaims, failAtKey } from "./provider-failures.ts";

const SALT_PURPOSE = "zklogin-salt";
const SALT_BYTES = 16;

export interface ZkloginIdentity {
  readonly chainAddress: string;
  /** Decimal. A secret: anyone who has it and the identity can compute the address. */
  readonly salt: string;
}

/**
 * The account's salt, made once: 128 random bits, encrypted under the master key. One of several parallel first
 * sign-ins makes it, and the others find it. Not derived from a seed: replacing the seed would move everybody to
 * another address.
 */
export function saltOf({ random, atRest }: Pick<Deps, "random" | "atRest">, act: AccountAct): string {
  const known = saltKeptFor(atRest, act.account);
  if (known !== null) return known;
  const salt = BigInt(`0x${Buffer.from(random.bytes(SALT_BYTES)).toString("hex")}`).toString();
  act.change({ zklogin_salt: atRest.protect(salt, SALT_PURPOSE, act.account.id) });
  return salt;
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

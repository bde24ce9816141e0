/**
 * A view of the vault that names the signer. Adding a member, or setting a first signing key, raises no generation
 * that would show it.
 */
import { MOST_AHEAD_MS } from "@coffer/chain";
import { findSigner, type Place, type VaultKeyRecord, type VaultView } from "@coffer/crypto";
import type { OpenVault } from "../open-vault.ts";

/** The claimed signer, and at which place. */
export interface Claim extends Place {
  /** 32 bytes. */
  readonly signer: Uint8Array;
}

/** A vault key's record is of two: who made the key, and who sealed it. */
export function claimsOf({ generation, after, maker, creator }: VaultKeyRecord): Claim[] {
  return [maker, creator].map((signer) => ({ generation, after, signer }));
}

/**
 * How old a view may be that is read because the one in memory lacks a name; a bound on reads that forged claims
 * cause. Milliseconds.
 */
const JUST_READ_MS = 250;

/**
 * The view in memory if it names every signer, else one just read. A signer that is still missing did not sign as a
 * member: the verification reports that.
 * `held` is the caller's view from a moment ago. It serves if it names them all.
 */
export async function viewNaming(
  view: OpenVault["view"],
  claims: readonly Claim[],
  latest?: VaultView,
): Promise<VaultView> {
  const isNamedIn = (seen: VaultView) => claims.every((claim) => findSigner(seen, claim.signer, claim) !== null);
  if (latest !== undefined && isNamedIn(latest)) return latest;
  const hintedGeneration = claims.reduce((most, { generation }) => (generation > most ? generation : most), 0n);
  const remembered = await view({ hintedGeneration });
  if (isNamedIn(remembered)) return remembered;
  const read = await view({ hintedGeneration, maxAge: JUST_READ_MS });
  const hintedTime = awaitedTime(read, claims);
  return hintedTime === null ? read : view({ hintedGeneration, hintedTime });
}

/**
 * The latest time that is worth waiting for: the vault will name the signer there, and two nodes may differ by that much.
 * Such a statement is early, and not forged. null: there is none. Nobody waits for a stranger's.
 */
function awaitedTime(view: VaultView, claims: readonly Claim[]): bigint | null {
  const limit = view.time + BigInt(MOST_AHEAD_MS);
  const early = claims.filter(({ generation, after, signer }) => {
    if (after <= view.time || after > limit) return false;
    return findSigner({ ...view, time: after }, signer, { generation, after }) !== null;
  });
  return early.reduce<bigint | null>((latest, { after }) => (after > (latest ?? 0n) ? after : latest), null);
}

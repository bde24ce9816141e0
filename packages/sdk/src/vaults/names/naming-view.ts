/**
 * A view of the vault that names the signer. Adding a member, or setting a first signing key, raises no generation
 * that would show it.
 */
import { findSigner, type Place, type VaultView } from "@coffer/crypto";
import type { OpenVault } from "../open-vault.ts";

/** The claimed signer, and at which place. */
export interface Claim extends Place {
  /** 32 bytes. */
  readonly signer: Uint8Array;
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
  held?: VaultView,
): Promise<VaultView> {
  const isNamedIn = (seen: VaultView) => claims.every((claim) => findSigner(seen, claim.signer, claim) !== null);
  if (held !== undefined && isNamedIn(held)) return held;
  const hintedGeneration = claims.reduce((most, { generation }) => (generation > most ? generation : most), 0n);
  const remembered = await view({ hintedGeneration });
  return isNamedIn(remembered) ? remembered : view({ hintedGeneration, maxAge: JUST_READ_MS });
}

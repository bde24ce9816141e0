/** A view of the vault that names who signed: adding a member, or setting a first signing key, raises no generation that would tell. */
import { findSigner, type Place, type VaultView } from "@coffer/crypto";
import type { OpenVault } from "../open-vault.ts";

/** Who claims to have signed, and at which place. */
export interface Claim extends Place {
  /** 32 bytes. */
  readonly signer: Uint8Array;
}

/** How old a view may be that is asked because the one in memory names somebody not; a bound on reads that forged claims cause. Milliseconds. */
const JUST_READ_MS = 250;

/**
 * The view in memory where it names every signer, else one just read. Whoever is not named there either did not sign as a member: that is for
 * the verification to say.
 */
export async function viewNaming(view: OpenVault["view"], claims: readonly Claim[]): Promise<VaultView> {
  const hintedGeneration = claims.reduce((most, { generation }) => (generation > most ? generation : most), 0n);
  const remembered = await view({ hintedGeneration });
  const named = claims.every((claim) => findSigner(remembered, claim.signer, claim) !== null);
  return named ? remembered : view({ hintedGeneration, maxAge: JUST_READ_MS });
}

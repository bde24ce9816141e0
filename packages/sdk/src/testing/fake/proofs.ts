/**
 * Checks proofs that a chain address's holder is there, as the service does: Ed25519 here, other schemes with the
 * test's own check.
 */
import { MAX_CLOCK_SKEW } from "@coffer/contract";
import { verifyPersonalMessage } from "../../chain/ed25519.ts";
import { fromBase64 } from "../../digest.ts";
import { Failure } from "../handlers.ts";
import type { State } from "./state.ts";

/** What a signature proves. For some schemes the fake cannot say. */
export type Proof = "holds" | "fails" | "unknown";

/** Schemes of Sui beside Ed25519 (0), by the signature's first byte: secp256k1, secp256r1, multisig, zkLogin, passkey. */
const OTHER_SCHEMES: readonly (number | undefined)[] = [1, 2, 3, 5, 6];

export async function checkSignature(
  { verifySignature }: Pick<State, "verifySignature">,
  chainAddress: string,
  text: string,
  signature: string,
): Promise<Proof> {
  const message = new TextEncoder().encode(text);
  if (!OTHER_SCHEMES.includes(fromBase64(signature)?.[0]))
    return verifyPersonalMessage(chainAddress, message, signature) ? "holds" : "fails";
  if (verifySignature === null) return "unknown";
  return (await verifySignature(chainAddress, message, signature)) ? "holds" : "fails";
}

/**
 * Throws `signature_invalid` unless it holds, and `not_configured` for a scheme that the service accepts and this fake
 * does not.
 */
export function requireHeld(proof: Proof | null): void {
  if (proof === "holds") return;
  if (proof !== "unknown") throw new Failure("signature_invalid");
  const how = "the fake checks Ed25519 by itself; give createFake a verifySignature for signatures of other schemes";
  throw new Failure("not_configured", `This fake cannot check the signature, which the service would: ${how}`);
}

/** Throws `clock_skew` for a time more than five minutes off. */
export function requireRecent(state: State, signedAt: string): void {
  if (Math.abs(state.now() - Date.parse(signedAt)) > MAX_CLOCK_SKEW) throw new Failure("clock_skew");
}

/** Throws `address_conflict` when another account has linked the address. */
export function refuseLinkedElsewhere(state: State, accountId: string, chainAddress: string): void {
  for (const account of state.accounts.values())
    if (account.id !== accountId && account.chainAddress === chainAddress) throw new Failure("address_conflict");
}

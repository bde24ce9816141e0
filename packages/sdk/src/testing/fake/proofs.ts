/** Proofs that a chain address's holder is there, checked as the service does; Ed25519 alone. */
import { MAX_CLOCK_SKEW } from "@coffer/contract";
import { verifyPersonalMessage } from "../../chain/ed25519.ts";
import { Failure } from "../handlers.ts";
import type { State } from "./state.ts";

/** Throws `signature_invalid` unless the address's key signed the text. */
export function requireSignature(chainAddress: string, text: string, signature: string): void {
  if (!verifyPersonalMessage(chainAddress, new TextEncoder().encode(text), signature))
    throw new Failure("signature_invalid");
}

/** Throws `clock_skew` for a time more than five minutes off. */
export function requireRecent(state: State, signedAt: number): void {
  if (Math.abs(state.now() - signedAt) > MAX_CLOCK_SKEW) throw new Failure("clock_skew");
}

/** Throws `address_conflict` when another account has linked the address. */
export function refuseLinkedElsewhere(state: State, accountId: string, chainAddress: string): void {
  for (const account of state.accounts.values())
    if (account.id !== accountId && account.chainAddress === chainAddress) throw new Failure("address_conflict");
}

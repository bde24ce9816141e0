/** When memberships end by themselves (encryption design §8): a whole quarter of an hour, by the chain's clock. */
import { endProblem, type VaultObjectMember } from "@coffer/contract";
import { NO_END } from "@coffer/crypto";
import { vaultError } from "../vault-error.ts";

/** A time, or its text in RFC 3339; null: no end. */
export type Until = Date | string | null;

/** @throws VaultError `end_invalid`, with the two nearest possible ends, before anything is signed. */
export function parseEnd(until: Until): bigint | null {
  if (until === null) return null;
  const at = until instanceof Date ? until.getTime() : Date.parse(until);
  const problem = endProblem(at);
  if (problem === null) return BigInt(at);
  throw vaultError("end_invalid", `The end of the access ${problem}`, { nextStep: "Give one of those, or null." });
}

/** In the service's form, readable for people; null: no end. */
export function renderEnd(endsAt: bigint): string | null {
  return endsAt === NO_END ? null : new Date(Number(endsAt)).toISOString();
}

/** Whether the entry's access is over, by the chain's mark or at that time (milliseconds since 1970). */
export function hasEnded({ endsAt, until }: Pick<VaultObjectMember, "endsAt" | "until">, now: number): boolean {
  return until > 0n || endsAt <= BigInt(now);
}

/** The error for a member whose own access has ended, in the same words for the chain and the service. */
export function describeEnd(endsAt: bigint): string {
  return `Your access ended at ${renderEnd(endsAt) ?? "no time"}`;
}

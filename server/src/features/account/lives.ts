/** What a key or session allows its caller now: whether it is valid, and in whose name it calls. */
import type { AccessLevel } from "@coffer/contract";
import type { ApiKeyRow, SessionRow } from "../../ports/tables.ts";

/** Why the service takes the key no longer; null: it does. */
export function keyRefusal(
  row: Pick<ApiKeyRow, "revoked_at" | "expires_at">,
  now: number,
): "revoked" | "expired" | null {
  if (row.revoked_at !== null) return "revoked";
  return row.expires_at === null || row.expires_at > now ? null : "expired";
}

export function isLiveKey(row: Pick<ApiKeyRow, "revoked_at" | "expires_at">, now: number): boolean {
  return keyRefusal(row, now) === null;
}

/** A key without a chain address, or with the account's own, is the owner's (specification §2.6, decisions §4). */
export function accessLevelOf(keyAddress: string | null, accountAddress: string | null): AccessLevel {
  return keyAddress === null || keyAddress === accountAddress ? "owner" : "agent";
}

/** A session whose newest refresh token has ended cannot go on, so it is over: the user is logged out (specification §3). */
export function isLiveSession(row: Pick<SessionRow, "revoked_at" | "expires_at">, now: number): boolean {
  return row.revoked_at === null && row.expires_at > now;
}

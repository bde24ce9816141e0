/** How long a session lasts. Times in milliseconds. */
import { REFRESH_TOKEN_DAYS, type Session, SESSION_DAYS } from "@coffer/contract";
import type { SessionRow } from "../../ports/tables.ts";
import { toTimestamp } from "../timestamps.ts";

const DAY = 86_400_000;

/** No refresh goes beyond this: after it the person signs in again (ASVS 5.0 7.3.2 wants an absolute end). */
export const SESSION_LIFE = SESSION_DAYS * DAY;

/** When a refresh token made now ends: after 30 days (specification §2.7), and never after its session. */
export function refreshEndsAt(now: number, sessionEndsAt: number): number {
  return Math.min(now + REFRESH_TOKEN_DAYS * DAY, sessionEndsAt);
}

/** Whole seconds, as answers give lifetimes. */
export function secondsUntil(end: number, now: number): number {
  return Math.floor((end - now) / 1000);
}

export function toSession(row: SessionRow, currentId: string | null): Session {
  return {
    id: row.id,
    method: row.method,
    current: row.id === currentId,
    userAgent: row.user_agent,
    createdAt: toTimestamp(row.created_at),
    lastUsedAt: toTimestamp(row.last_used_at),
    expiresAt: toTimestamp(row.expires_at),
  };
}

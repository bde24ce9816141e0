import type { AccessCodeRow } from "../../ports/tables.ts";
import { toTimestamp } from "../timestamps.ts";

/** A code as the operator sees it. The code itself is known to nobody here. */
export interface ListedAccessCode {
  readonly id: string;
  readonly status: "usable" | "used" | "expired" | "revoked";
  readonly usesLeft: number;
  readonly note: string | null;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly createdAt: string;
}

/** `now` in milliseconds. */
export function toListed(row: Omit<AccessCodeRow, "hash">, now: number): ListedAccessCode {
  return {
    id: row.id,
    status: statusOf(row, now),
    usesLeft: row.uses_left,
    note: row.note,
    expiresAt: row.expires_at === null ? null : toTimestamp(row.expires_at),
    revokedAt: row.revoked_at === null ? null : toTimestamp(row.revoked_at),
    createdAt: toTimestamp(row.created_at),
  };
}

function statusOf(row: Omit<AccessCodeRow, "hash">, now: number): ListedAccessCode["status"] {
  if (row.revoked_at !== null) return "revoked";
  if (row.uses_left === 0) return "used";
  return row.expires_at !== null && row.expires_at <= now ? "expired" : "usable";
}

/** A change's row and its audit event: the row holds the event's parts as the contract renders them. */
import type { AuditEvent } from "@coffer/contract";
import * as z from "zod/mini";
import type { ChangeRow } from "../../ports/tables.ts";
import { toTimestamp } from "../timestamps.ts";

// Which texts are well formed was settled when they were written. Here only the shape counts, and its order.
const text = z.nullable(z.string());
const actor = z.strictObject({ type: z.string(), id: text, accessLevel: text, chainAddress: text });
const target = z.strictObject({ type: z.string(), id: z.string(), vaultId: z.optional(z.string()) });
const context = z.strictObject({ requestId: text, location: text, userAgent: text });

/**
 * The entry that the row holds. A row that is not in the server's form is shown as it was found, marked as unreadable.
 * Somebody altered it, which the owner must be able to see and its hash will show.
 */
export function toAuditEvent(row: ChangeRow): AuditEvent {
  return {
    id: row.id,
    action: row.action,
    occurredAt: isTime(row.occurred_at) ? toTimestamp(row.occurred_at) : unreadable(row.occurred_at),
    actor: parsePart(row.actor_json, actor, (found) => ({ ...noActor, type: found })),
    targets: [parsePart(row.target_json, target, (found) => ({ type: found, id: "" }))],
    context: parsePart(row.context_json, context, (found) => ({ requestId: found, location: null, userAgent: null })),
    sequence: row.sequence,
    previousHash: row.previous_hash,
    hash: row.hash,
  };
}

const noActor = { id: null, accessLevel: null, chainAddress: null };
/** 9999-12-31: what RFC 3339 can say. */
const LAST_TIME = 253_402_300_799_999;

function isTime(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= LAST_TIME;
}

/** Only the very text that rendering the part gives: one that merely means the same was not written by this server. */
function parsePart<Schema extends z.ZodMiniType>(
  text: string,
  schema: Schema,
  asFound: (found: string) => z.infer<Schema>,
): z.infer<Schema> {
  const parsed = z.safeParse(schema, parseJson(text));
  return parsed.success && JSON.stringify(parsed.data) === text ? parsed.data : asFound(unreadable(text));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** No part that the server writes begins like this, so what was found cannot pass for what was written. */
function unreadable(found: string | number): string {
  return `unreadable: ${String(found)}`;
}

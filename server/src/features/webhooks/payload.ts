/** A change in the form for receivers: the body of every delivery, and the data of the event feed. */
import { type AuditEvent, type EventObject, isEventKind, type WebhookEvent } from "@coffer/contract";
import type { ChangeRow } from "../../ports/tables.ts";
import { toTimestamp } from "../timestamps.ts";

/** No payload is larger, in bytes of UTF-8 (Standard Webhooks: "thin" payloads). Ids and numbers alone stay far below. */
const MAX_PAYLOAD_BYTES = 20_000;

/** The `webhook-id` of a change: the same for every endpoint, attempt and redelivery; no dot (Standard Webhooks). */
export function messageIdOf(changeId: string): string {
  return `msg_${changeId.replaceAll("-", "")}`;
}

/** The JSON text of the event; null for a change that is none, such as a sign-in. */
export function renderPayload(change: ChangeRow): string | null {
  if (change.object_json === null || !isEventKind(change.action)) return null;
  return renderEvent({
    type: change.action,
    occurredAt: change.occurred_at,
    accountId: change.account_id,
    sequence: change.sequence,
    actor: JSON.parse(change.actor_json) as AuditEvent["actor"],
    object: JSON.parse(change.object_json) as EventObject,
  });
}

export interface EventFacts {
  readonly type: WebhookEvent["type"];
  readonly occurredAt: number;
  readonly accountId: string;
  readonly sequence: number;
  readonly actor: AuditEvent["actor"];
  readonly object: EventObject;
}

/** Throws when it came out larger than 20,000 bytes. */
export function renderEvent({ type, occurredAt, accountId, sequence, actor, object }: EventFacts): string {
  const { type: kind, id, chainAddress } = actor;
  const data = { accountId, sequence, actor: { type: kind, id, chainAddress }, object };
  const text = JSON.stringify({ type, timestamp: toTimestamp(occurredAt), data });
  if (Buffer.byteLength(text) > MAX_PAYLOAD_BYTES) throw new Error(`the payload of a ${type} event is too large`);
  return text;
}

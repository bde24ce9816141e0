/** The input of an audit entry's hash. Without schemas: clients load it with the check of the chain. */
import type { AuditEvent } from "./audit.ts";

/** The predecessor's hash in the first entry of an account. */
export const FIRST_PREVIOUS_HASH = "0".repeat(64);

/**
 * The text whose SHA-256 is the entry's hash: a JSON array in this order, so that service, client and offline verifier
 * compute the same. It lists the fields of the parts one by one: a field of a later version gets a new line here.
 */
export function renderAuditText(accountId: string, event: Omit<AuditEvent, "hash">): string {
  const { actor, context } = event;
  return JSON.stringify([
    "coffer audit v1",
    event.previousHash,
    accountId,
    event.sequence,
    event.id,
    event.action,
    event.occurredAt,
    [actor.type, actor.id, actor.accessLevel, actor.chainAddress],
    event.targets.map(({ type, id, vaultId }) => [type, id, vaultId ?? null]),
    [context.requestId, context.location, context.userAgent],
  ]);
}

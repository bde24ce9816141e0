/** A test delivery: sent now, waited for, recorded, and never repeated (specification §4.1, §6; decisions §6). */
import { type Delivery, MAX_ATTEMPTS } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { Principal } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import type { WebhookAttemptRow, WebhookDeliveryRow, WebhookRow } from "../../ports/tables.ts";
import type { WebhookOutcome } from "../../ports/webhook-sender.ts";
import { ServiceError } from "../../service-error.ts";
import { notFound } from "../acting.ts";
import { insertDelivery } from "./deliveries-store.ts";
import { insertAttempts } from "./delivery/outcome-store.ts";
import { readWebhook } from "./endpoints.ts";
import { messageIdOf, renderEvent } from "./payload.ts";
import { toDelivery } from "./rules.ts";
import { liveSecrets } from "./secrets.ts";
import { webhookHeaders } from "./signing.ts";
import { recordTest } from "./store.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "atRest" | "webhookSender">;

/** Tests of one account that wait for receivers at once. Each holds a request for up to 15 s, and endpoints are many. */
export const TESTS_AT_ONCE = 10;

/** Counts who waits for a test; of one process. */
export class TestRoom {
  readonly #waiting = new Map<string, number>();

  /** Runs `send`, or throws `rate_limited` when too many of the account's are running. */
  async within<Result>(accountId: string, send: () => Promise<Result>): Promise<Result> {
    const others = this.#waiting.get(accountId) ?? 0;
    if (others >= TESTS_AT_ONCE) throw new ServiceError("rate_limited", undefined, { headers: { "Retry-After": "1" } });
    this.#waiting.set(accountId, others + 1);
    try {
      return await send();
    } finally {
      const left = (this.#waiting.get(accountId) ?? 1) - 1;
      if (left === 0) this.#waiting.delete(accountId);
      else this.#waiting.set(accountId, left);
    }
  }
}

interface Message {
  readonly messageId: string;
  readonly payload: string;
  /** Milliseconds since the Unix epoch. */
  readonly sentAt: number;
}

/**
 * Sends a `webhook.test` event, also to an inactive endpoint. What the receiver makes of it is the answer, not an
 * error. It writes only at its end: an interrupted test leaves no delivery that waits for ever.
 */
export async function sendTest(
  deps: Needs,
  principal: Principal,
  webhookId: string,
  signal: AbortSignal,
): Promise<Delivery> {
  const webhook = await readWebhook(deps.database, principal, webhookId);
  const message = renderTest(deps, principal, webhook.id);
  const { messageId, payload: body, sentAt: now } = message;
  const secrets = liveSecrets(deps.atRest, webhook, now);
  const headers = webhookHeaders({ messageId, now, body, secrets });
  const outcome = await deps.webhookSender.send({ url: webhook.url, headers, body }, signal);
  // The caller has left, or the service stops: the break says nothing of the receiver.
  if (signal.aborted) throw new ServiceError("unavailable");
  const row = toRow(webhook, message, outcome, { id: deps.random.uuid(), now: deps.clock.now() });
  await deps.database.transaction((transaction) => record(transaction, row, outcome));
  return toDelivery(row);
}

function renderTest({ clock, random }: Needs, principal: Principal, webhookId: string): Message {
  const { accountId, kind, keyId, sessionId, accessLevel, chainAddress } = principal;
  const sentAt = clock.now();
  const payload = renderEvent({
    type: "webhook.test",
    occurredAt: sentAt,
    accountId,
    sequence: 0,
    actor: { type: kind, id: keyId ?? sessionId, accessLevel, chainAddress },
    object: { type: "webhook", id: webhookId },
  });
  return { messageId: messageIdOf(random.uuid()), payload, sentAt };
}

function toRow(
  webhook: WebhookRow,
  { messageId, payload, sentAt }: Message,
  outcome: WebhookOutcome,
  made: { readonly id: string; readonly now: number },
): WebhookDeliveryRow {
  return {
    id: made.id,
    webhook_id: webhook.id,
    message_id: messageId,
    event: "webhook.test",
    sequence: 0,
    payload,
    trigger: "test",
    status: outcome.failure === null ? "success" : "failed",
    attempts: 1,
    max_attempts: MAX_ATTEMPTS.test,
    http_status: outcome.httpStatus,
    last_error: outcome.failure ?? "",
    next_attempt_at: null,
    lease_until: null,
    last_attempt_at: sentAt,
    completed_at: made.now,
    created_at: sentAt,
  };
}

/** The endpoint may have been deleted while the receiver thought: then there is nothing to keep the record with. */
async function record(transaction: Queries, row: WebhookDeliveryRow, outcome: WebhookOutcome): Promise<void> {
  const { webhook_id: id, status, completed_at: at } = row;
  if (
    (await transaction.run(recordTest(transaction, { id, status, at, failures: status === "success" ? 0 : 1 }))) === 0
  )
    throw notFound("Webhook");
  await insertDelivery(transaction, row);
  const attempt: WebhookAttemptRow = {
    delivery_id: row.id,
    number: 1,
    trigger: row.trigger,
    http_status: row.http_status,
    error: row.last_error,
    duration: Math.round(outcome.duration),
    response_body: outcome.responseBody,
    at: row.created_at,
  };
  await insertAttempts(transaction, [attempt]);
}

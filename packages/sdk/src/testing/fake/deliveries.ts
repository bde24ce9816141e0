/** Deliveries of the fake's webhooks: the records, tests, and repeats of failed ones. */
import type { api } from "@coffer/contract";
import { Failure, type GroupHandlers } from "../handlers.ts";
import { add, attempt, enqueue } from "./sending.ts";
import { notFound, pageOf, timestamp, type Caller, type State } from "./state.ts";
import { messageIdOf, toEvent, type DeliveryRow, type ToldEvent, type WebhookRow } from "./webhook-state.ts";

type Handlers = GroupHandlers<typeof api.webhooks, Caller>;

export function deliveryHandlers(
  state: State,
): Pick<Handlers, "test" | "deliveries" | "delivery" | "redeliver" | "recover"> {
  return {
    test: async ({ params }, caller) => {
      const row = readWebhook(state, caller, params.webhookId);
      const sent = enqueue(state, row, testEvent(state, caller, row), "test");
      await attempt(state, row, sent);
      return { delivery: sent.value };
    },
    deliveries: ({ params, query }, caller) => {
      readWebhook(state, caller, params.webhookId);
      const rows = ofWebhook(state, params.webhookId).filter(
        ({ value }) => query.status === undefined || value.status === query.status,
      );
      const { items, nextCursor } = pageOf(rows, query);
      return { deliveries: items, nextCursor };
    },
    delivery: ({ params }, caller) => {
      const { value, attempts } = readDelivery(state, caller, params);
      return { delivery: value, attempts };
    },
    redeliver: ({ params }, caller) => {
      requireActive(readWebhook(state, caller, params.webhookId));
      return { delivery: renew(state, readDelivery(state, caller, params)).value };
    },
    recover: ({ params, body }, caller) => {
      const row = requireActive(readWebhook(state, caller, params.webhookId));
      const until = body.until ?? timestamp(state);
      if (until < body.since) throw new Failure("validation_failed", "body.until: must not be before body.since");
      return { count: recover(state, row, body.since, until) };
    },
  };
}

function testEvent(state: State, { accountId, kind, key }: Caller, { value }: WebhookRow): ToldEvent {
  const { id, chainAddress } = key.value;
  const event = toEvent({
    ...{ type: "webhook.test", timestamp: timestamp(state), accountId, sequence: 0 },
    actor: { type: kind, id, chainAddress },
    object: { type: "webhook", id: value.id },
  });
  return { messageId: messageIdOf(crypto.randomUUID()), event };
}

function ofWebhook(state: State, webhookId: string): DeliveryRow[] {
  return [...state.deliveries.values()].filter((row) => row.webhookId === webhookId);
}

function readDelivery(
  state: State,
  caller: Caller,
  { webhookId, deliveryId }: { readonly webhookId: string; readonly deliveryId: string },
): DeliveryRow {
  readWebhook(state, caller, webhookId);
  const row = state.deliveries.get(deliveryId);
  if (row?.webhookId !== webhookId) throw notFound("Delivery");
  return row;
}

function requireActive(row: WebhookRow): WebhookRow {
  if (!row.value.active) throw new Failure("webhook_inactive");
  return row;
}

/** The same message again, in a delivery of its own; a test stays one. */
function renew(state: State, { accountId, webhookId, payload, value, trigger: before }: DeliveryRow): DeliveryRow {
  const { event, messageId, sequence } = value;
  const trigger = before === "test" ? "test" : "manual";
  return add(state, { accountId, webhookId, payload, trigger }, { event, messageId, sequence });
}

/** Each message that failed in the range and was neither delivered nor queued again since. */
function recover(state: State, { value }: WebhookRow, since: string, until: string): number {
  const rows = ofWebhook(state, value.id);
  const failed = rows.filter(
    (row) =>
      row.value.status === "failed" &&
      row.trigger !== "test" &&
      row.value.createdAt >= since &&
      row.value.createdAt <= until &&
      !rows.some((other) => other.value.messageId === row.value.messageId && other.sequence > row.sequence),
  );
  for (const row of failed) renew(state, row);
  return failed.length;
}

/** The endpoint, else 404. */
export function readWebhook(state: State, { accountId }: Caller, webhookId: string): WebhookRow {
  const row = state.webhooks.get(webhookId);
  if (row?.accountId !== accountId) throw notFound("Webhook");
  return row;
}

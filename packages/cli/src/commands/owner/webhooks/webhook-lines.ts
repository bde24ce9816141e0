/** Webhooks and deliveries, as people see them. What receivers answer is text of others. */
import type { Delivery, Webhook } from "@coffer/sdk";
import { argument } from "../../../declarations.ts";
import type { Column } from "../../../result.ts";
import { factLines } from "../../../terminal/facts.ts";
import { timeText } from "../../../terminal/visible.ts";
import { untrusted } from "@coffer/tasks";
import { word } from "../cell-text.ts";

export const WEBHOOK = argument("WEBHOOK", "Id, beginning of the id, or address");

export const webhookLines = (webhook: Webhook): string[] =>
  factLines([
    ["id", webhook.id],
    ["url", untrusted(webhook.url)],
    ["events", untrusted(webhook.events.join(" "))],
    ["state", webhook.active ? "active" : "paused"],
    ["description", untrusted(webhook.description)],
    ["last delivery", word(webhook.lastDeliveryStatus)],
    ["last delivery at", timeText(webhook.lastDeliveryAt)],
    ["failures in a row", webhook.failureCount],
    ["created", timeText(webhook.createdAt)],
  ]);

export const deliveryLines = (delivery: Delivery): string[] =>
  factLines([
    ["id", delivery.id],
    ["event", untrusted(delivery.event)],
    ["status", word(delivery.status)],
    ["http status", delivery.httpStatus],
    ["attempts", `${String(delivery.attempts)} of ${String(delivery.maxAttempts)}`],
    ["last error", untrusted(delivery.lastError)],
    ["last attempt", timeText(delivery.lastAttemptAt)],
    ["next attempt", timeText(delivery.nextAttemptAt)],
  ]);

export const DELIVERY_COLUMNS: readonly Column<Delivery>[] = [
  { title: "id", of: ({ id }) => id },
  { title: "event", of: ({ event }) => untrusted(event) },
  { title: "status", of: ({ status }) => word(status) },
  { title: "http", of: ({ httpStatus }) => httpStatus, isNumber: true },
  { title: "attempts", of: ({ attempts, maxAttempts }) => `${String(attempts)}/${String(maxAttempts)}` },
  { title: "last", of: ({ lastAttemptAt }) => timeText(lastAttemptAt) },
  { title: "error", of: ({ lastError }) => untrusted(lastError) },
];

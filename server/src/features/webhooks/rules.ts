/** What an endpoint and its deliveries look like from outside (specification §2.1, §2.2). */
import type { Delivery, DeliveryAttempt, Webhook } from "@coffer/contract";
import type { WebhookAttemptRow, WebhookDeliveryRow, WebhookRow } from "../../ports/tables.ts";
import { toTimestamp } from "../timestamps.ts";

export function toWebhook(row: WebhookRow): Webhook {
  return {
    id: row.id,
    url: row.url,
    events: parseKinds(row),
    active: row.active === 1,
    description: row.description,
    lastDeliveryStatus: row.last_delivery_status,
    lastDeliveryAt: orNull(row.last_delivery_at),
    failureCount: row.failure_count,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
  };
}

export function parseKinds({ events_json }: Pick<WebhookRow, "events_json">): string[] {
  return JSON.parse(events_json) as string[];
}

export function toDelivery(row: WebhookDeliveryRow): Delivery {
  return {
    id: row.id,
    event: row.event,
    messageId: row.message_id,
    sequence: row.sequence,
    status: row.status,
    httpStatus: row.http_status,
    attempts: row.attempts,
    maxAttempts: row.max_attempts,
    lastError: row.last_error,
    lastAttemptAt: orNull(row.last_attempt_at),
    nextAttemptAt: orNull(row.next_attempt_at),
    completedAt: orNull(row.completed_at),
    createdAt: toTimestamp(row.created_at),
  };
}

export function toAttempt(row: WebhookAttemptRow): DeliveryAttempt {
  return {
    number: row.number,
    trigger: row.trigger,
    httpStatus: row.http_status,
    error: row.error,
    duration: row.duration,
    responseBody: row.response_body,
    at: toTimestamp(row.at),
  };
}

function orNull(at: number | null): string | null {
  return at === null ? null : toTimestamp(at);
}

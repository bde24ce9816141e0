/** How the fake sends: one queue over memory, emptied when a test says so. */
import { MAX_ATTEMPTS, type Delivery } from "@coffer/contract";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { toBase64 } from "../../digest.ts";
import { timestamp, type State } from "./state.ts";
import type { DeliveryRow, ToldEvent, WebhookRow } from "./webhook-state.ts";

/** Seconds before each attempt (decisions §6), without the service's chance. */
const SCHEDULE = [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
const ANSWER_CHARACTERS = 16 * 1024;

/** Queues a message for delivery to an endpoint, at once. */
export function enqueue(
  state: State,
  webhook: WebhookRow,
  { messageId, event }: ToldEvent,
  trigger: DeliveryRow["trigger"] = "scheduled",
): DeliveryRow {
  const payload = JSON.stringify(event);
  const { sequence } = event.data;
  const { accountId, value } = webhook;
  return add(state, { accountId, webhookId: value.id, payload, trigger }, { event: event.type, messageId, sequence });
}

/** Queues the first or a further delivery of a message. */
export function add(
  state: State,
  about: Pick<DeliveryRow, "accountId" | "webhookId" | "payload" | "trigger">,
  message: Pick<Delivery, "event" | "messageId" | "sequence">,
): DeliveryRow {
  const now = timestamp(state);
  const maxAttempts = about.trigger === "test" ? MAX_ATTEMPTS.test : MAX_ATTEMPTS.event;
  const value: Delivery = {
    ...{ id: crypto.randomUUID(), ...message, status: "pending", httpStatus: 0, attempts: 0, maxAttempts },
    ...{ lastError: "", lastAttemptAt: null, nextAttemptAt: now, completedAt: null, createdAt: now },
  };
  const row = { ...about, sequence: state.next(), value, attempts: [] };
  state.deliveries.set(value.id, row);
  return row;
}

/** Sends deliveries that are due by the fake's clock. Resolves with the number of attempts. */
export async function deliverDue(state: State): Promise<number> {
  let count = 0;
  for (const row of [...state.deliveries.values()]) {
    const webhook = state.webhooks.get(row.webhookId);
    const { status, nextAttemptAt } = row.value;
    const due =
      row.trigger !== "test" && status === "pending" && nextAttemptAt !== null && nextAttemptAt <= timestamp(state);
    if (webhook?.value.active !== true || !due) continue;
    count += 1;
    await attempt(state, webhook, row);
  }
  return count;
}

/** One attempt, now. */
export async function attempt(state: State, webhook: WebhookRow, row: DeliveryRow): Promise<void> {
  const at = timestamp(state);
  const { httpStatus, responseBody } = await send(state, webhook, row);
  const success = httpStatus >= 200 && httpStatus <= 299;
  const error = success ? "" : httpStatus === 0 ? "connection refused" : `HTTP ${String(httpStatus)}`;
  const number = row.attempts.length + 1;
  row.attempts.push({ number, trigger: row.trigger, httpStatus, error, duration: 0, responseBody, at });
  const over = success || number >= row.value.maxAttempts;
  row.value = {
    ...row.value,
    ...{ status: success ? "success" : over ? "failed" : "pending", httpStatus, attempts: number, lastError: error },
    ...{ lastAttemptAt: at, completedAt: over ? timestamp(state) : null },
    nextAttemptAt: over ? null : timestamp(state, (SCHEDULE[number] ?? 0) * 1000),
  };
  noteOutcome(webhook, row.value);
}

async function send(
  state: State,
  webhook: WebhookRow,
  row: DeliveryRow,
): Promise<{ readonly httpStatus: number; readonly responseBody: string }> {
  try {
    const response = await state.receive?.(signedRequest(state, webhook, row));
    if (response === undefined) return { httpStatus: 0, responseBody: "" };
    return { httpStatus: response.status, responseBody: (await response.text()).slice(0, ANSWER_CHARACTERS) };
  } catch {
    return { httpStatus: 0, responseBody: "" }; // A receiver that throws counts as absent.
  }
}

/** Standard Webhooks: one signature by each valid secret. */
function signedRequest(state: State, { value, secrets }: WebhookRow, row: DeliveryRow): Request {
  const seconds = String(Math.floor(state.now() / 1000));
  const { messageId } = row.value;
  const signed = new TextEncoder().encode(`${messageId}.${seconds}.${row.payload}`);
  const signatures = secrets
    .filter(({ endsAt }) => endsAt === null || endsAt > state.now())
    .map(({ text }) => `v1,${toBase64(hmac(sha256, keyOf(text), signed))}`);
  const headers = {
    "content-type": "application/json",
    "user-agent": "coffer-webhooks/1",
    "webhook-id": messageId,
    "webhook-timestamp": seconds,
    "webhook-signature": signatures.join(" "),
  };
  return new Request(value.url, { method: "POST", headers, body: row.payload, redirect: "manual" });
}

function keyOf(secret: string): Uint8Array {
  return Uint8Array.from(atob(secret.replace(/^whsec_/, "")), (character) => character.charCodeAt(0));
}

function noteOutcome(webhook: WebhookRow, { status, completedAt }: Delivery): void {
  const { failureCount } = webhook.value;
  webhook.value = {
    ...webhook.value,
    lastDeliveryStatus: status,
    lastDeliveryAt: completedAt ?? webhook.value.lastDeliveryAt,
    failureCount: status === "success" ? 0 : failureCount + 1,
  };
}

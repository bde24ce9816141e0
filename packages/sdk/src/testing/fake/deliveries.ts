/** How the fake delivers webhooks: one queue over memory, sent when a test says so. */
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { toBase64 } from "../../transfer/digest.ts";
import { timestamp, type QueuedDelivery, type State, type WebhookRow } from "./state.ts";

/** Seconds between attempts (decisions §6), without the service's chance. After the last one, a message is given up. */
const WAITS = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];

/** Makes the attempts that are due by the fake's clock. Resolves with how many there were. */
export async function deliverDue(state: State): Promise<number> {
  const due = state.deliveries.filter(
    ({ webhookId, dueAt }) => dueAt <= state.now() && state.webhooks.get(webhookId)?.value.active === true,
  );
  state.deliveries = state.deliveries.filter((delivery) => !due.includes(delivery));
  for (const delivery of due) {
    const webhook = state.webhooks.get(delivery.webhookId);
    if (webhook !== undefined) await attemptDelivery(state, webhook, delivery);
  }
  return due.length;
}

async function attemptDelivery(state: State, webhook: WebhookRow, delivery: QueuedDelivery): Promise<void> {
  const isTaken = await send(state, webhook, delivery);
  const wait = WAITS[delivery.attempts];
  const isOver = isTaken || wait === undefined;
  if (!isOver) {
    const next = { ...delivery, attempts: delivery.attempts + 1, dueAt: state.now() + wait * 1000 };
    state.deliveries = [...state.deliveries, next];
  }
  const { value } = webhook;
  webhook.value = {
    ...value,
    lastDeliveryStatus: isTaken ? "success" : isOver ? "failed" : "pending",
    lastDeliveryAt: isOver ? timestamp(state) : value.lastDeliveryAt,
    failureCount: isTaken ? 0 : value.failureCount + 1,
  };
}

/** Whether the receiver took it: it answered with 2xx. One that throws counts as absent. */
async function send(state: State, webhook: WebhookRow, delivery: QueuedDelivery): Promise<boolean> {
  try {
    const response = await state.receive?.(signedRequest(state, webhook, delivery));
    return response?.ok === true;
  } catch {
    return false;
  }
}

/** Standard Webhooks. */
function signedRequest(state: State, { value, secret }: WebhookRow, { messageId, payload }: QueuedDelivery): Request {
  const seconds = String(Math.floor(state.now() / 1000));
  const signed = new TextEncoder().encode(`${messageId}.${seconds}.${payload}`);
  const headers = {
    "content-type": "application/json",
    "user-agent": "coffer-webhooks/1",
    "webhook-id": messageId,
    "webhook-timestamp": seconds,
    "webhook-signature": `v1,${toBase64(hmac(sha256, keyOf(secret), signed))}`,
  };
  return new Request(value.url, { method: "POST", headers, body: payload, redirect: "manual" });
}

function keyOf(secret: string): Uint8Array {
  return Uint8Array.from(atob(secret.replace(/^whsec_/, "")), (character) => character.charCodeAt(0));
}

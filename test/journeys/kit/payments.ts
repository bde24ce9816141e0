/** The payment provider's side of billing: events, signed as Standard Webhooks 1.0 says, by the specification alone. */
import { createHmac, randomUUID } from "node:crypto";
import type { Call } from "./http.ts";

/** What a server is started with, so that a test can sign as its provider. */
export const PAYMENT_SECRET = `whsec_${Buffer.from("the provider's secret in acceptance").toString("base64")}`;

export interface PaymentEvent {
  readonly kind: "subscription.active" | "subscription.ending" | "subscription.ended";
  readonly accountId: string;
  readonly plan: string;
  readonly reference: string;
  /** RFC 3339. */
  readonly occurredAt: string;
}

export interface Signing {
  readonly id?: string;
  /** Milliseconds since the Unix epoch. */
  readonly at?: number;
  readonly secret?: string;
}

/** The call that delivers an event; bytes are signed as they are. */
export function delivery(
  event: object,
  { id = randomUUID(), at = Date.now(), secret = PAYMENT_SECRET }: Signing = {},
): Call {
  const body = event instanceof Uint8Array ? event : Buffer.from(JSON.stringify(event));
  const timestamp = String(Math.floor(at / 1000));
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
  const headers = {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
  };
  return { key: "", body: new Uint8Array(body), headers };
}

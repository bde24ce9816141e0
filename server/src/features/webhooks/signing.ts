/**
 * Signatures of deliveries by Standard Webhooks 1.0.0 ("Signature scheme", symmetric): `v1,` and the base64 of
 * HMAC-SHA-256 over `<id>.<timestamp>.<body>`. A receiver that checks the three together can neither be sent an altered
 * body nor an old one again.
 */
import { createHmac, createSecretKey, type KeyObject } from "node:crypto";
import type { Random } from "../../ports/random.ts";

export interface SignedMessage {
  /** The `webhook-id`: the same on every attempt. Has no dot, which separates the signed parts. */
  readonly id: string;
  /** Seconds since the Unix epoch, whole. */
  readonly timestamp: number;
  /** What is sent, before it becomes UTF-8. */
  readonly body: string;
}

export interface MessageToSend {
  readonly messageId: string;
  /** Milliseconds since the Unix epoch, of this attempt: receivers refuse what is older than five minutes. */
  readonly now: number;
  readonly body: string;
  /** Newest first; two while a rotated secret still counts. */
  readonly secrets: readonly string[];
}

const SECRET_PREFIX = "whsec_";
/** Standard Webhooks 1.0.0 wants 24 to 64; 32 is the width of the hash (RFC 2104 §3). */
const SECRET_BYTES = 32;
const USER_AGENT = "coffer-webhooks/1";

/** A new secret: `whsec_` and the base64 of 32 random bytes. */
export function mintSecret(random: Pick<Random, "bytes">): string {
  return SECRET_PREFIX + Buffer.from(random.bytes(SECRET_BYTES)).toString("base64");
}

/**
 * One signature per secret, separated by spaces, so that a receiver with either of two secrets can verify. Throws when
 * there is no secret or one that holds no key: nothing ever goes out unsigned.
 */
export function signMessage({ id, timestamp, body }: SignedMessage, secrets: readonly string[]): string {
  if (secrets.length === 0) throw new Error("A webhook message needs a secret to be signed with");
  return secrets
    .map((secret) => `v1,${createHmac("sha256", keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest("base64")}`)
    .join(" ");
}

/** Every header that an attempt carries of ours (decisions §6). */
export function webhookHeaders({ messageId, now, body, secrets }: MessageToSend): Record<string, string> {
  const timestamp = Math.floor(now / 1000);
  return {
    "content-type": "application/json",
    "user-agent": USER_AGENT,
    "webhook-id": messageId,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signMessage({ id: messageId, timestamp, body }, secrets),
  };
}

/**
 * The error does not repeat the secret. A key object, because an HMAC with a bare buffer was measured at five times
 * the cost. Node 24.21 asks of every buffer whether it is a key, and answers itself with an exception.
 */
function keyOf(secret: string): KeyObject {
  const key = Buffer.from(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : "", "base64");
  if (key.length === 0) throw new Error(`A webhook's secret is ${SECRET_PREFIX} and a key in base64`);
  return createSecretKey(key);
}

/**
 * Symmetric signatures of Standard Webhooks 1.0.0: `v1,` and the base64 of HMAC-SHA-256 over
 * `<id>.<timestamp>.<body>`. One header may hold several, separated by spaces, so that a secret can be changed without
 * a gap.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

export interface SignedParts {
  readonly id: string;
  /** Seconds since the Unix epoch, in decimal. */
  readonly timestamp: string;
  /** The very bytes that are sent. */
  readonly body: Uint8Array;
}

/** `secret`: `whsec_` and base64. */
export function signParts(secret: string, { id, timestamp, body }: SignedParts): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64")}`;
}

/** Whether one of the signatures in `header` is the secret's. Takes as long wherever they differ. */
export function isSigned(secret: string, parts: SignedParts, header: string): boolean {
  const expected = Buffer.from(signParts(secret, parts));
  return header.split(" ").some((signature) => {
    const given = Buffer.from(signature);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

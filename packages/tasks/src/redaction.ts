/**
 * The last gate before anything leaves the process: every frame on stdout and every log line on stderr goes through
 * {@link Redaction.redact}. A secret is registered before the first line that could hold it is written.
 */
import { KEY_SCANNING_REGEX } from "@coffer/contract";

export const REDACTED = "[redacted]";

/** Shorter texts are words, not secrets: replacing them would garble frames. */
const SHORTEST_SECRET = 8;

/** What looks like a secret of this product even when nobody registered it (decisions §0: `cof_`, `cofi_`; Sui: `suiprivkey1`). */
const SHAPES: readonly RegExp[] = [
  new RegExp(KEY_SCANNING_REGEX.source, "g"),
  /\bcofi_[0-9A-Za-z]{20,}/g,
  /\bsuiprivkey1[0-9a-z]{40,}/g,
  // Secrets of webhooks (Standard Webhooks).
  /\bwhsec_[\w+/]{24,}={0,2}/g,
  // JWTs: access tokens of a saved session, identity tokens.
  /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]{16,}/g,
];

export interface Redaction {
  /** Adds a secret, in its plain form and in its form inside a JSON string. Ignores texts that are too short. */
  register(secret: string | undefined): void;
  redact(text: string): string;
}

export function createRedaction(): Redaction {
  const secrets = new Set<string>();
  return {
    register(secret) {
      if (secret === undefined || secret.length < SHORTEST_SECRET) return;
      secrets.add(secret);
      secrets.add(JSON.stringify(secret).slice(1, -1));
    },
    redact(text) {
      let safe = text;
      for (const secret of secrets) safe = safe.replaceAll(secret, REDACTED);
      for (const shape of SHAPES) safe = safe.replace(shape, REDACTED);
      return safe;
    },
  };
}

/**
 * The last gate before anything leaves the process: every frame on stdout and every log line on stderr goes through
 * {@link Redaction.redact}. A secret is registered before the first line that could hold it is written.
 */
import { formsOf, holdsKnownKey, OWN_SHAPES } from "./secret-shapes.ts";

export const REDACTED = "[redacted]";

/** Shorter texts are words, not secrets: replacing them would garble frames. */
const SHORTEST_SECRET = 8;

export interface Redaction {
  /** Adds a secret, plain, inside a JSON string, in hex and in base64. Ignores texts that are too short. */
  register(secret: string | undefined): void;
  redact(text: string): string;
  /** Whether bytes of a file hold a registered secret, or what looks like a known key. */
  finds(head: Buffer): boolean;
}

export function createRedaction(): Redaction {
  const secrets = new Set<string>();
  return {
    register(secret) {
      if (secret === undefined || secret.length < SHORTEST_SECRET) return;
      for (const form of formsOf(secret)) if (form.length >= SHORTEST_SECRET) secrets.add(form);
    },
    redact(text) {
      let safe = text;
      for (const secret of secrets) safe = safe.replaceAll(secret, REDACTED);
      for (const shape of OWN_SHAPES) safe = safe.replace(shape, REDACTED);
      return safe;
    },
    finds: (head) => [...secrets].some((secret) => head.includes(secret)) || holdsKnownKey(head),
  };
}

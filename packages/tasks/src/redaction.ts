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
      safe = withoutHeads(safe, secrets);
      for (const shape of OWN_SHAPES) safe = safe.replace(shape, REDACTED);
      return safe;
    },
    finds: (head) => [...secrets].some((secret) => head.includes(secret)) || holdsKnownKey(head),
  };
}

/** Before this a text of others was cut (untrusted.ts). */
const CUT = "… (";

/** A text that was cut may end in the beginning of a secret, which is no whole one any more. */
function withoutHeads(text: string, secrets: Iterable<string>): string {
  const [first = "", ...others] = text.split(CUT);
  if (others.length === 0) return text;
  const pieces = [first, ...others];
  const last = pieces.pop() ?? "";
  return [...pieces.map((piece) => withoutHead(piece, secrets)), last].join(CUT);
}

function withoutHead(piece: string, secrets: Iterable<string>): string {
  for (const secret of secrets) {
    const at = piece.lastIndexOf(secret.slice(0, SHORTEST_SECRET));
    if (at !== -1 && secret.startsWith(piece.slice(at))) return piece.slice(0, at) + REDACTED;
  }
  return piece;
}

import { INVITE_PREFIX, KEY_PREFIX, LEGACY_KEY_PREFIX, isError } from "@coffer/contract";
import { REDACTED } from "./secret.ts";

const LONGEST_FOREIGN_TEXT = 500;
/**
 * Matches credentials by how they begin: keys, invite codes, chain private keys, secrets of webhooks, and JWTs (access
 * and identity tokens). Also access codes, and 256 bits of base64url on their own: refresh and mailed tokens, and the
 * secret behind an invite code. It does not match the 64 hex digits of a digest.
 */
const SECRETS: readonly RegExp[] = [
  new RegExp(`\\b(?:${KEY_PREFIX}|${LEGACY_KEY_PREFIX}|${INVITE_PREFIX})_[0-9A-Za-z]{16,128}`, "g"),
  /\bsuiprivkey1[0-9a-z]{40,}/gi,
  /\bwhsec_[\w+/]{24,}={0,2}/g,
  /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g,
  // One chain in 17 has an id of that length.
  /(?<![\w-])(?<!\bthe chain )[\w-]{43}(?![\w-])/g,
  /\b[0-9A-Z]{4}(?:-[0-9A-Z]{4}){4}\b/g,
];
const BEARER = /\bBearer\s+[^\s"',;]+/gi;
const CREDENTIALS_IN_URL = /:\/\/[^/\s@]+@/g;
/** Controls, and the marks that reorder text on a screen (Unicode TR #36 §3). */
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text from outside made fit for an error message: no credential, no control character, at most 500 characters. */
export function redactText(text: string): string {
  const safe = SECRETS.reduce((rest, secret) => rest.replace(secret, REDACTED), text)
    .replace(BEARER, `Bearer ${REDACTED}`)
    .replace(CREDENTIALS_IN_URL, `://${REDACTED}@`)
    .replace(UNPRINTABLE, " ");
  return safe.length > LONGEST_FOREIGN_TEXT ? `${safe.slice(0, LONGEST_FOREIGN_TEXT)}…` : safe;
}

/**
 * The parts of a foreign error that may be a `cause`: name, message and code. Transport errors carry requests, options
 * and with them the bearer token (ky `HTTPError.request`), so it copies nothing else.
 */
export function sanitizeCause(error: unknown): Error {
  const source = deepest(error);
  const safe = new Error(redactText(isError(source) ? source.message : String(source)));
  safe.name = isError(source) ? redactText(source.name) : "Error";
  const code = errorCode(error);
  return code === null ? safe : Object.assign(safe, { code });
}

/** The system's error code (`ECONNREFUSED` …) of an error or of its cause; null when there is none. */
export function errorCode(error: unknown): string | null {
  for (let current = error, depth = 0; isError(current) && depth < 5; current = current.cause, depth += 1) {
    if ("code" in current && typeof current.code === "string" && /^[A-Z][A-Z0-9_]{1,63}$/.test(current.code))
      return current.code;
  }
  return null;
}

function deepest(error: unknown): unknown {
  let current = error;
  for (let depth = 0; isError(current) && isError(current.cause) && depth < 5; depth += 1) current = current.cause;
  return current;
}

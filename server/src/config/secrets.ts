/** The keys of the service. Development has fixed ones, which anybody can read here: nothing in it is a secret. */
import { hash } from "node:crypto";
import type { Values } from "./values.ts";

/** An HS256 key (RFC 7518 §3.2: at least 32 bytes). */
export interface JwtKey {
  /** Names the key in a token's header, so that two can be valid during a rotation. */
  readonly kid: string;
  readonly secret: Uint8Array;
}

/** 32 bytes from 64 hex digits or base64; null for anything else. */
export function decodeMasterKey(given: string): Uint8Array | null {
  const bytes = /^[0-9a-f]{64}$/i.test(given) ? Buffer.from(given, "hex") : Buffer.from(given, "base64");
  return bytes.length === 32 ? new Uint8Array(bytes) : null;
}

export function readMasterKey({ masterKey }: Pick<Values, "masterKey">): Uint8Array {
  return decodeMasterKey(masterKey) ?? new Uint8Array(developmentKey("master key"));
}

export function readJwtKeys({ jwtKeys }: Pick<Values, "jwtKeys">): JwtKey[] {
  const given = jwtKeys.split(",").filter((entry) => entry !== "");
  if (given.length === 0) return [{ kid: "development", secret: new Uint8Array(developmentKey("JWT key")) }];
  return given.map((entry) => {
    const at = entry.indexOf(":");
    return { kid: entry.slice(0, at), secret: new Uint8Array(Buffer.from(entry.slice(at + 1), "base64")) };
  });
}

/** No source of chance makes such bytes: they were typed, or filled in to be changed later. Anybody can guess them. */
export function isGuessable(secret: Uint8Array): boolean {
  const steps = new Set(secret.subarray(1).map((byte, at) => (byte - (secret[at] ?? 0)) & 0xff));
  if (new Set(secret).size <= 4 || steps.size <= 1) return true;
  // One part over and over again.
  const parts = Array.from({ length: secret.length >> 1 }, (_, at) => at + 1);
  return parts.some((part) => secret.every((byte, at) => at < part || byte === secret[at - part]));
}

/** In development billing works out of the box: the test provider's events are signed with this. */
export const DEVELOPMENT_PAYMENT_SECRET = `whsec_${Buffer.from("coffer development payments").toString("base64")}`;

/** What anybody can read in this file. */
export function isOfDevelopment(secret: Uint8Array): boolean {
  const payments = Buffer.from(DEVELOPMENT_PAYMENT_SECRET.replace("whsec_", ""), "base64");
  return [developmentKey("master key"), developmentKey("JWT key"), payments].some((known) => known.equals(secret));
}

function developmentKey(name: string): Buffer {
  return hash("sha256", `coffer development ${name}`, "buffer");
}

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
  return decodeMasterKey(masterKey) ?? developmentKey("master key");
}

export function readJwtKeys({ jwtKeys }: Pick<Values, "jwtKeys">): JwtKey[] {
  const given = jwtKeys.split(",").filter((entry) => entry !== "");
  if (given.length === 0) return [{ kid: "development", secret: developmentKey("JWT key") }];
  return given.map((entry) => {
    const at = entry.indexOf(":");
    return { kid: entry.slice(0, at), secret: new Uint8Array(Buffer.from(entry.slice(at + 1), "base64")) };
  });
}

function developmentKey(name: string): Uint8Array {
  return new Uint8Array(hash("sha256", `coffer development ${name}`, "buffer"));
}

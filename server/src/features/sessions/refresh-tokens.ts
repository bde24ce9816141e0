/** Opaque refresh tokens: 256 random bits; only the hash is stored (specification §2.7). */
import { hash } from "node:crypto";
import type { Random } from "../../ports/random.ts";

export interface MintedRefreshToken {
  /** Leaves the server once, in the answer. */
  readonly text: string;
  /** SHA-256 in hex: enough for a value that cannot be guessed (ASVS 5.0 11.4.2 is for passwords). */
  readonly hash: string;
}

export function mintRefreshToken(random: Random): MintedRefreshToken {
  const text = Buffer.from(random.bytes(32)).toString("base64url");
  return { text, hash: hashRefreshToken(text) };
}

export function hashRefreshToken(text: string): string {
  return hash("sha256", text, "hex");
}

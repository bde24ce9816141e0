/** Secrets in the database are encrypted under the master key (decisions §1, "Secrets at rest"). */
import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject } from "node:crypto";
import type { Random } from "../ports/random.ts";

export interface AtRest {
  /** Text that only this service can read back, for the same `purpose` and `owner` (a row's id) only. */
  protect(secret: string, purpose: string, owner: string): string;
  /** Throws when it was changed, made for something else, or under another master key. */
  reveal(text: string, purpose: string, owner: string): string;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** AES-256-GCM with random nonces (NIST SP 800-38D §8.2.2), one key per purpose by HKDF-SHA-256 (RFC 5869). */
export function createAtRest(masterKey: Uint8Array, random: Random): AtRest {
  // As key objects: with bare buffers Node 24.21 spends more time on checking that they are no keys than on the
  // cipher.
  const keys = new Map<string, KeyObject>();
  const keyFor = (purpose: string): KeyObject => {
    const known = keys.get(purpose);
    if (known !== undefined) return known;
    const info = `coffer/at-rest/${purpose}`;
    const made = createSecretKey(new Uint8Array(hkdfSync("sha256", masterKey, new Uint8Array(0), info, 32)));
    keys.set(purpose, made);
    return made;
  };
  return {
    protect(secret, purpose, owner) {
      const nonce = random.bytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", keyFor(purpose), nonce).setAAD(Buffer.from(owner));
      const body = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
      return Buffer.concat([nonce, body, cipher.getAuthTag()]).toString("base64url");
    },
    reveal(text, purpose, owner) {
      const bytes = Buffer.from(text, "base64url");
      const decipher = createDecipheriv("aes-256-gcm", keyFor(purpose), bytes.subarray(0, NONCE_BYTES))
        .setAAD(Buffer.from(owner))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
    },
  };
}

/** Access codes as people read and type them: five groups of Crockford base32, 100 random bits. */
import { hash } from "node:crypto";
import type { Random } from "../../ports/random.ts";

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LENGTH = 20;
const GROUP = /.{4}(?=.)/g;

/** A fresh code, `XXXX-XXXX-XXXX-XXXX-XXXX`. It is shown once; only {@link hashAccessCode} of it is kept. */
export function mintAccessCode(random: Random): string {
  const digits = Array.from(random.bytes(LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]);
  return digits.join("").replace(GROUP, "$&-");
}

/** SHA-256 in hex of the code, however its letters, separators and look-alikes were typed (crockford.com/base32.html). */
export function hashAccessCode(text: string): string {
  return hash("sha256", normalise(text), "hex");
}

function normalise(text: string): string {
  return text.toUpperCase().replace(/[\s-]/g, "").replace(/O/g, "0").replace(/[IL]/g, "1");
}

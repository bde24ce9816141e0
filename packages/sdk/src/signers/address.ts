/** The address of an Ed25519 key, as Sui makes it: separate from the curve, which is three times as large. */
import { blake2b } from "@noble/hashes/blake2.js";
import { toHex } from "../transfer/digest.ts";

/** Sui's flag byte of the Ed25519 scheme. */
export const SCHEME = 0;

/** BLAKE2b-256 of the flag and the public key. */
export function addressOf(publicKey: Uint8Array): string {
  return `0x${toHex(blake2b(concat([SCHEME], publicKey), { dkLen: 32 }))}`;
}

export function concat(...parts: readonly ArrayLike<number>[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}

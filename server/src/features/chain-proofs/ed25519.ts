/**
 * Personal messages of Ed25519 keys, as strict as clients verify them (file-format §6), without asking anybody.
 * Encodings are canonical, S is below the group's order, neither key nor R is of small order, and there is no
 * cofactor. Under a key of small order one signature can fit many texts (Chalkias, Garillot, Nikolaenko, "Taming the
 * many EdDSAs", SSR 2020).
 */
import { createPublicKey, verify, type KeyObject } from "node:crypto";
import { blake2b } from "@noble/hashes/blake2.js";
import type { SignatureVerdict, SignedMessage } from "../../ports/message-signatures.ts";

/** Sui's flag byte of the Ed25519 scheme: the first of a serialised signature and of what an address is the hash of. */
export const ED25519 = 0x00;
const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;
const SERIALIZED_BYTES = 1 + SIGNATURE_BYTES + KEY_BYTES;

/** RFC 8410 §4: DER of a public key of 32 bytes. */
const SPKI = Buffer.from("302a300506032b6570032100", "hex");

/** Scope PersonalMessage, version 0, application Sui: no transaction's digest begins with them. */
const PERSONAL_MESSAGE = Uint8Array.of(3, 0, 0);

/** The verdict, and the key that signed. */
export function verifyEd25519({ chainAddress, message, signature }: SignedMessage): {
  readonly verdict: SignatureVerdict;
  readonly publicKey: Uint8Array;
} {
  const publicKey = signature.subarray(1 + SIGNATURE_BYTES);
  if (signature.length !== SERIALIZED_BYTES) return { verdict: "invalid", publicKey };
  if (addressOf(publicKey) !== chainAddress) return { verdict: "other_address", publicKey };
  const isSigned = isSignedMessage(message, { publicKey, signature: signature.subarray(1, 1 + SIGNATURE_BYTES) });
  return { verdict: isSigned ? "valid" : "invalid", publicKey };
}

/** Whether `signature` (64 bytes) is of the key (32 bytes) over the message. Never throws. */
export function isSignedMessage(
  message: Uint8Array,
  { publicKey, signature }: { readonly publicKey: Uint8Array; readonly signature: Uint8Array },
): boolean {
  if (!isWellFormed(publicKey, signature)) return false;
  try {
    return verify(null, digestOf(message), importKey(publicKey), signature);
  } catch {
    return false; // Not a point of the curve.
  }
}

/** The same in the thread pool: for many signatures at once. Never rejects. */
export function isSignedMessageAside(
  message: Uint8Array,
  { publicKey, signature }: { readonly publicKey: Uint8Array; readonly signature: Uint8Array },
): Promise<boolean> {
  if (!isWellFormed(publicKey, signature)) return Promise.resolve(false);
  return new Promise((resolve) => {
    try {
      verify(null, digestOf(message), importKey(publicKey), signature, (error, isValid) => {
        resolve(error === null && isValid);
      });
    } catch {
      resolve(false); // Not a point of the curve.
    }
  });
}

/** Not every OpenSSL refuses keys of small order; every one checks S itself. */
function isWellFormed(publicKey: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== KEY_BYTES || signature.length !== SIGNATURE_BYTES) return false;
  return isSound(publicKey) && isSound(signature.subarray(0, 32));
}

/** Sui address: BLAKE2b-256 of flag ‖ public key. */
function addressOf(publicKey: Uint8Array): string {
  const bytes = blake2b(Buffer.concat([Uint8Array.of(ED25519), publicKey]), { dkLen: 32 });
  return `0x${Buffer.from(bytes).toString("hex")}`;
}

/** Importing a key takes as long as verifying with it, and few members sign most of what comes. The one used longest ago gives way. */
const MAX_IMPORTED = 1000;
const imported = new Map<string, KeyObject>();

/** Throws for 32 bytes that are no point of the curve. */
function importKey(publicKey: Uint8Array): KeyObject {
  const der = Buffer.concat([SPKI, publicKey]);
  const name = der.toString("latin1");
  const key = imported.get(name) ?? createPublicKey({ key: der, format: "der", type: "spki" });
  imported.delete(name);
  imported.set(name, key);
  const oldest = imported.size > MAX_IMPORTED ? imported.keys().next().value : undefined;
  if (oldest !== undefined) imported.delete(oldest);
  return key;
}

/** BLAKE2b-256 of intent ‖ BCS `vector<u8>` of the message. */
export function digestOf(message: Uint8Array): Uint8Array {
  return blake2b(Buffer.concat([PERSONAL_MESSAGE, uleb128(message.length), message]), { dkLen: 32 });
}

/** Canonical, and none of the eight points of small order. Whether it is a point at all shows when it is decoded. */
function isSound(encoded: Uint8Array): boolean {
  // Little endian; the top bit is the sign of x.
  const y = BigInt(`0x${Buffer.from(encoded).reverse().toString("hex")}`) & ~(1n << 255n);
  return y < PRIME && !SMALL_ORDER_Y.has(y);
}

/** The field's prime: 2^255 − 19 (RFC 8032 §5.1). */
const PRIME = 2n ** 255n - 19n;

/** y of the points of order 8. Every point of small order has this y, its negative, 0, 1 or −1. */
const ORDER_EIGHT_Y = 0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n;
const SMALL_ORDER_Y = new Set([0n, 1n, PRIME - 1n, ORDER_EIGHT_Y, PRIME - ORDER_EIGHT_Y]);

function uleb128(value: number): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Uint8Array.from([...bytes, rest]);
    bytes.push((rest & 0x7f) | 0x80);
  }
}

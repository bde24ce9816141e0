/** Ed25519 keys as Sui uses them: personal messages, `suiprivkey1…`. Loaded on demand. */
import * as ed from "@noble/ed25519";
import { blake2b } from "@noble/hashes/blake2.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { toBase64 } from "../digest.ts";
import { addressOf, concat, SCHEME } from "./address.ts";

// WebCrypto's digests are missing on pages without TLS; @noble/ed25519 brings none of its own.
ed.hashes.sha512 = sha512;

/** Scope PersonalMessage, version 0, application Sui. */
const PERSONAL_MESSAGE = [3, 0, 0];
/** Scope TransactionData, version 0, application Sui. */
const TRANSACTION = [0, 0, 0];
const [SIGNATURE_BYTES, KEY_BYTES] = [64, 32];

export function publicKeyOf(seed: Uint8Array): Uint8Array {
  return ed.getPublicKey(seed);
}

export function randomSeed(): Uint8Array {
  return ed.utils.randomSecretKey();
}

/** The serialised signature in base64: flag ‖ signature ‖ public key. */
export function signPersonalMessage(seed: Uint8Array, message: Uint8Array): string {
  const signature = ed.sign(digestOfMessage(message), seed);
  return toBase64(concat([SCHEME], signature, publicKeyOf(seed)));
}

/** Over the BCS bytes of a transaction (intent 00 00 00); the serialised signature in base64. */
export function signTransaction(seed: Uint8Array, transaction: Uint8Array): string {
  const digest = blake2b(concat(TRANSACTION, transaction), { dkLen: 32 });
  return toBase64(concat([SCHEME], ed.sign(digest, seed), publicKeyOf(seed)));
}

/** Whether the address's own Ed25519 key signed the message. Strict (RFC 8032 §5.1.7): no second encoding of a signature passes. */
export function verifyPersonalMessage(address: string, message: Uint8Array, serialized: string): boolean {
  const bytes = fromBase64(serialized);
  if (bytes?.length !== 1 + SIGNATURE_BYTES + KEY_BYTES || bytes[0] !== SCHEME || toBase64(bytes) !== serialized)
    return false;
  const signature = bytes.subarray(1, 1 + SIGNATURE_BYTES);
  const publicKey = bytes.subarray(1 + SIGNATURE_BYTES);
  if (addressOf(publicKey) !== address) return false;
  try {
    return ed.verify(signature, digestOfMessage(message), publicKey, { zip215: false });
  } catch {
    return false; // Not a point of the curve.
  }
}

/** The message is a BCS vector of bytes inside the intent. */
function digestOfMessage(message: Uint8Array): Uint8Array {
  return blake2b(concat(PERSONAL_MESSAGE, uleb128(message.length), message), { dkLen: 32 });
}

function uleb128(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...uleb128(value >>> 7)];
}

function fromBase64(text: string): Uint8Array | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

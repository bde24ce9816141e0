/** Ed25519 keys as Sui uses them: personal messages, `suiprivkey1…`. */
import * as ed from "@noble/ed25519";
import { blake2b } from "@noble/hashes/blake2.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { toBase64 } from "../transfer/digest.ts";
import { nativeCrypto } from "../http/native-crypto.ts";
import { addressOf, concat, SCHEME } from "./address.ts";

// WebCrypto's digests are missing on pages without TLS; @noble/ed25519 brings none of its own.
ed.hashes.sha512 = sha512;

/** Scope PersonalMessage, version 0, application Sui. */
const PERSONAL_MESSAGE = [3, 0, 0];
/** Scope TransactionData, version 0, application Sui. */
const TRANSACTION = [0, 0, 0];
const [SIGNATURE_BYTES, KEY_BYTES] = [64, 32];

/** DER around the 32 bytes of a seed (RFC 8410 §7). */
const PKCS8 = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

/**
 * Node's, which signs the same (RFC 8032 is deterministic): @noble/ed25519 first builds a table, for 25 ms. null where
 * there is none.
 */
function nativeKey(seed: Uint8Array) {
  const native = nativeCrypto();
  if (native === null) return null;
  const der = Buffer.from([...PKCS8, ...seed]);
  const key = native.createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  der.fill(0);
  return { native, key };
}

export function publicKeyOf(seed: Uint8Array): Uint8Array {
  const ofNode = nativeKey(seed);
  if (ofNode === null) return ed.getPublicKey(seed);
  const der = ofNode.native.createPublicKey(ofNode.key).export({ format: "der", type: "spki" });
  return new Uint8Array(der.subarray(-KEY_BYTES));
}

function sign(seed: Uint8Array, message: Uint8Array): Uint8Array {
  const ofNode = nativeKey(seed);
  return ofNode === null ? ed.sign(message, seed) : new Uint8Array(ofNode.native.sign(null, message, ofNode.key));
}

export function randomSeed(): Uint8Array {
  return ed.utils.randomSecretKey();
}

/** The serialised signature in base64: flag ‖ signature ‖ public key. */
export function signPersonalMessage(seed: Uint8Array, message: Uint8Array): string {
  return toBase64(concat([SCHEME], sign(seed, digestOfMessage(message)), publicKeyOf(seed)));
}

/** Over the BCS bytes of a transaction (intent 00 00 00); the serialised signature in base64. */
export function signTransaction(seed: Uint8Array, transaction: Uint8Array): string {
  const digest = blake2b(concat(TRANSACTION, transaction), { dkLen: 32 });
  return toBase64(concat([SCHEME], sign(seed, digest), publicKeyOf(seed)));
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

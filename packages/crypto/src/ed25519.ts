/**
 * Ed25519 with one answer everywhere (file-format §6): the platform's if there is one, @noble/ed25519 elsewhere.
 * Libraries differ in what they accept (Chalkias, Garillot, Nikolaenko, "Taming the many EdDSAs", SSR 2020). So this
 * module refuses those cases before it asks any of them, and makes @noble/ed25519 use OpenSSL's equation.
 */
import { getPublicKey, hashes, Point, sign } from "@noble/ed25519";
import { sha512 } from "@noble/hashes/sha2.js";
import { copyBytes, equalBytes } from "./bytes.ts";
import { sized } from "./fields.ts";
import { cacheSignature } from "./signature-cache.ts";
import { findNativeEd25519, nodePublicKey } from "./native-ed25519.ts";
import { SecretKey } from "./secret-key.ts";
import type { StatementSigner } from "./statement-signer.ts";

// WebCrypto's digests are missing on pages without TLS; @noble/ed25519 brings none of its own.
hashes.sha512 = sha512;

export const SIGNATURE_BYTES = 64;
export const PUBLIC_KEY_BYTES = 32;

/** Signs with an Ed25519 seed of 32 bytes: a chain key that is its own signing key, or one made for signing. */
export function ed25519StatementSigner(seed: Uint8Array): StatementSigner {
  const secret = new SecretKey(sized(seed, 32, "seed"));
  const publicKey = nodePublicKey(secret) ?? getPublicKey(secret.reveal());
  return {
    publicKey: copyBytes(publicKey),
    sign: async (message32) => {
      const digest = copyBytes(message32);
      const signature = (await (await findNativeEd25519())?.sign(secret, digest)) ?? sign(digest, secret.reveal());
      // Other signers' results are verified when they are read.
      if (digest.length === 32) cacheSignature({ publicKey, digest, signature });
      return signature;
    },
  };
}

/**
 * Whether the signature is of the message and the key: RFC 8032 §5.1.7 without the cofactor. Encodings are canonical,
 * S is below the group's order, and neither key nor R has small order. Never throws.
 */
export async function verifyEd25519(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  if (!isWellFormed(publicKey, signature)) return false;
  const native = await findNativeEd25519();
  return native === null ? verifyPortably(publicKey, message, signature) : native.verify(publicKey, message, signature);
}

/** The same without the platform; exported for the test that compares both. */
export function verifyEd25519Portably(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  return isWellFormed(publicKey, signature) && verifyPortably(publicKey, message, signature);
}

function isWellFormed(publicKey: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== PUBLIC_KEY_BYTES || signature.length !== SIGNATURE_BYTES) return false;
  const [r, s] = [signature.subarray(0, 32), signature.subarray(32)];
  return isAcceptablePoint(publicKey) && isAcceptablePoint(r) && isBelow(s, GROUP_ORDER);
}

/** Canonical, and not one of the eight points of small order. Whether it is a point at all shows when it is decoded. */
function isAcceptablePoint(encoded: Uint8Array): boolean {
  const y = copyBytes(encoded);
  y[31] = (y[31] ?? 0) & 0x7f; // The top bit is the sign of x.
  return isBelow(y, FIELD_PRIME) && !SMALL_ORDER_Y.some((small) => equalBytes(small, y));
}

/** S·B − k·A must encode to R byte by byte, as in OpenSSL and the ref10 it comes from: no second encoding, no cofactor. */
function verifyPortably(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const r = signature.subarray(0, 32);
  const k = readLittleEndian(sha512.create().update(r).update(publicKey).update(message).digest()) % Point.CURVE().n;
  try {
    const kA = Point.fromBytes(publicKey, false).multiply(k, false);
    const sB = Point.BASE.multiply(readLittleEndian(signature.subarray(32)), false);
    return equalBytes(sB.subtract(kA).toBytes(), r);
  } catch {
    return false; // Not a point of the curve.
  }
}

function isBelow(bytes: Uint8Array, bound: Uint8Array): boolean {
  for (let index = bound.length - 1; index >= 0; index -= 1) {
    const [byte = 0, limit = 0] = [bytes[index], bound[index]];
    if (byte !== limit) return byte < limit;
  }
  return false;
}

function readLittleEndian(bytes: Uint8Array): bigint {
  return bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
}

function littleEndian(value: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, index) => Number((value >> BigInt(8 * index)) & 0xffn));
}

const PRIME = Point.CURVE().p;
const FIELD_PRIME = littleEndian(PRIME);
const GROUP_ORDER = littleEndian(Point.CURVE().n);

/** The y of the points of order 1, 2, 4 and 8; each covers the points with either sign of x. */
const SMALL_ORDER_Y = [0n, 1n, PRIME - 1n, ...orderEight()].map(littleEndian);

/** y of a point of order 8 and its negative (RFC 7748's curve maps to it; libsodium keeps the same list). */
function orderEight(): readonly bigint[] {
  const y = 0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n;
  return [y, PRIME - y];
}

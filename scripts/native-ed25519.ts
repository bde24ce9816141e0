/**
 * @noble/curves' Ed25519 for `@mysten/sui` in the programs, by Node where Node gives the same answer: each session has a fresh key, and
 * @noble/curves first builds tables, for some 60 ms.
 */
import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from "node:crypto";
import { ed25519 as portable } from "@noble/curves/ed25519.js";

/** DER around the 32 bytes (RFC 8410 §7 and §4). */
const [PKCS8, SPKI] = ["302e020100300506032b657004220420", "302a300506032b6570032100"].map((hex) =>
  Buffer.from(hex, "hex"),
) as [Buffer, Buffer];

export const ed25519: typeof portable = {
  ...portable,
  getPublicKey: (seed) => {
    if (seed.length !== 32) return portable.getPublicKey(seed);
    return new Uint8Array(createPublicKey(privateKey(seed)).export({ format: "der", type: "spki" }).subarray(-32));
  },
  sign: (message, seed, options) => {
    if (seed.length !== 32 || options !== undefined) return portable.sign(message, seed, options);
    return new Uint8Array(sign(null, message, privateKey(seed)));
  },
  // OpenSSL takes less than ZIP 215 does (decision 0125): where it refuses, the portable one decides.
  verify: (signature, message, publicKey, options) =>
    (options === undefined && isValidForNode(signature, message, publicKey)) ||
    portable.verify(signature, message, publicKey, options),
};

function privateKey(seed: Uint8Array): KeyObject {
  const der = Buffer.concat([PKCS8, seed]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  der.fill(0);
  return key;
}

function isValidForNode(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  if (publicKey.length !== 32) return false;
  try {
    const key = createPublicKey({ key: Buffer.concat([SPKI, publicKey]), format: "der", type: "spki" });
    return verify(null, message, key, signature);
  } catch {
    return false; // Not a point of the curve.
  }
}

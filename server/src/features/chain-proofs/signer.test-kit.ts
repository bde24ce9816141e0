/** TEST ONLY: an Ed25519 key that signs as a Sui wallet does; rules.test.ts holds it to @mysten/sui, byte for byte. */
import { createPrivateKey, createPublicKey, sign } from "node:crypto";
import { blake2b } from "@noble/hashes/blake2.js";

export interface TestSigner {
  readonly seed: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly chainAddress: string;
  /** The serialised signature of a text as a personal message. */
  sign(text: string): string;
}

/** RFC 8410 §7: PKCS #8 of a seed. */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");

export function openSigner(seed: Uint8Array): TestSigner {
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: "der", type: "pkcs8" });
  const publicKey = createPublicKey(privateKey).export({ format: "der", type: "spki" }).subarray(-32);
  return {
    seed,
    publicKey,
    chainAddress: addressOf(publicKey),
    sign: (text) => serialize(sign(null, digestOf(text), privateKey), publicKey),
  };
}

export function addressOf(publicKey: Uint8Array): string {
  return `0x${Buffer.from(blake2b(Buffer.concat([Uint8Array.of(0), publicKey]), { dkLen: 32 })).toString("hex")}`;
}

/** flag ‖ signature ‖ public key. */
export function serialize(signature: Uint8Array, publicKey: Uint8Array, flag = 0): string {
  return Buffer.concat([Uint8Array.of(flag), signature, publicKey]).toString("base64");
}

/** `intent`: [3, 0, 0] makes it a personal message. */
export function digestOf(text: string, intent: readonly number[] = [3, 0, 0]): Uint8Array {
  const bytes = Buffer.from(text);
  const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 0x7f) | 0x80, bytes.length >> 7];
  return blake2b(Buffer.concat([Uint8Array.from([...intent, ...length]), bytes]), { dkLen: 32 });
}

/**
 * Keys of small order, in all their encodings (Chalkias, Garillot, Nikolaenko, "Taming the many EdDSAs"). With R =
 * identity and S = 0 a lenient verifier takes one signature for any text, and so anybody holds their addresses.
 */
export const SMALL_ORDER: readonly string[] = [
  "0100000000000000000000000000000000000000000000000000000000000000",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "0000000000000000000000000000000000000000000000000000000000000080",
  "0000000000000000000000000000000000000000000000000000000000000000",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
  "0100000000000000000000000000000000000000000000000000000000000080",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
];

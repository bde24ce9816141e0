/**
 * The key-server half of Seal's identity-based encryption (Boneh-Franklin over BLS12-381), which `@mysten/seal` does
 * not export. It has master keys, user keys, proofs of possession, and the shares of a committee. Tests compare it
 * with the vector of MystenLabs/seal `crates/crypto/src/ibe.rs`. The unmodified SealClient verifies every key that it
 * gets, too.
 */
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { hkdf } from "@noble/hashes/hkdf.js";
import { sha3_256 } from "@noble/hashes/sha3.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { memoize } from "./memoize.ts";

/** A scalar of the curve, 1 to its order. Secret. */
export type MasterKey = bigint;

export type G1Point = InstanceType<typeof bls12_381.G1.Point>;
export type G2Point = InstanceType<typeof bls12_381.G2.Point>;

/** The scalars modulo the curve's order. */
export const SCALARS = bls12_381.fields.Fr;

const IDENTITY_DOMAIN = utf8ToBytes("SUI-SEAL-IBE-BLS12381-00");
const POSSESSION_DOMAIN = utf8ToBytes("SUI-SEAL-IBE-BLS12381-POP-00");

/** HKDF-SHA3-256 over the seed with the index (u64, big endian) as info; 64 bytes, reduced modulo the order. */
export function deriveMasterKey(seed: Uint8Array, index: number): MasterKey {
  const info = new Uint8Array(8);
  new DataView(info.buffer).setBigUint64(0, BigInt(index));
  const wide = hkdf(sha3_256, seed, new Uint8Array(0), info, 64);
  return SCALARS.create(BigInt(`0x${Buffer.from(wide).toString("hex")}`));
}

export const publicKeyOf = memoize((key: MasterKey): G2Point => bls12_381.G2.Point.BASE.multiply(key), String);

/** The point an identity hashes to. `fullId` is the original package id followed by the inner identity. */
export function identityPoint(fullId: Uint8Array): G1Point {
  return hashToG1(concatBytes(IDENTITY_DOMAIN, fullId));
}

/** What opens everything encrypted for the identity; always the same for a master key and an identity. */
export const deriveUserKey = memoize(
  (key: MasterKey, fullId: Uint8Array): G1Point => identityPoint(fullId).multiply(key),
  (key, fullId) => `${String(key)} ${toHex(fullId)}`,
);

/** Shows that whoever answers for the object holds the master key of the public key in it; 48 bytes. */
export function provePossession(key: MasterKey, objectId: Uint8Array): Uint8Array {
  const message = concatBytes(POSSESSION_DOMAIN, publicKeyOf(key).toBytes(), objectId);
  return hashToG1(message).multiply(key).toBytes();
}

/** One member's share of a committee's master key. */
export interface KeyShare {
  /** From 0; the polynomial is evaluated at `party + 1`. */
  readonly party: number;
  readonly key: MasterKey;
}

/**
 * Shamir's sharing over the scalars.
 *
 * @param coefficients The master key, then one random scalar for each further member that is needed.
 */
export function shareMasterKey(coefficients: readonly MasterKey[], members: number): KeyShare[] {
  return Array.from({ length: members }, (_, party) => {
    const at = SCALARS.create(BigInt(party + 1));
    const key = coefficients.reduceRight((sum, coefficient) => SCALARS.add(SCALARS.mul(sum, at), coefficient), 0n);
    return { party, key };
  });
}

/** What a member's share counts for when the shares of exactly `parties` are put together. */
export function lagrangeWeight(party: number, parties: readonly number[]): bigint {
  const at = BigInt(party + 1);
  return parties
    .filter((other) => other !== party)
    .map((other) => BigInt(other + 1))
    .reduce((product, other) => SCALARS.mul(product, SCALARS.div(other, SCALARS.sub(other, at))), 1n);
}

const hashToG1 = memoize(
  (message: Uint8Array): G1Point => bls12_381.G1.Point.fromAffine(bls12_381.G1.hashToCurve(message).toAffine()),
  toHex,
);

function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

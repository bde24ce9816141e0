/**
 * User keys on their way to a session: ElGamal in G1. So only the session that asked can read them, and a committee's
 * aggregator can join encrypted shares without seeing a key.
 */
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { identityPoint, lagrangeWeight, SCALARS, type G1Point, type G2Point } from "./master-key.ts";

/** (g^r, key · pk^r), in additive notation. */
export interface EncryptedKey {
  readonly ephemeral: G1Point;
  readonly masked: G1Point;
}

/** The session's ElGamal key, and the same key in G2, by which an aggregator checks what the members answer. */
export interface SessionKeys {
  readonly encryption: G1Point;
  readonly verification: G2Point;
}

export function encryptUserKey(userKey: G1Point, to: G1Point): EncryptedKey {
  const secret = SCALARS.create(BigInt(`0x${Buffer.from(bls12_381.utils.randomSecretKey()).toString("hex")}`));
  return { ephemeral: bls12_381.G1.Point.BASE.multiply(secret), masked: to.multiply(secret).add(userKey) };
}

/** A member's answer for one identity. */
export interface EncryptedShare {
  readonly party: number;
  readonly key: EncryptedKey;
}

/** The encryption of the whole user key, from exactly as many shares as the committee needs. */
export function combineShares(shares: readonly EncryptedShare[]): EncryptedKey {
  const parties = shares.map((share) => share.party);
  const weighted = shares.map(({ party, key }) => {
    const weight = lagrangeWeight(party, parties);
    return { ephemeral: key.ephemeral.multiply(weight), masked: key.masked.multiply(weight) };
  });
  return weighted.reduce((sum, next) => ({
    ephemeral: sum.ephemeral.add(next.ephemeral),
    masked: sum.masked.add(next.masked),
  }));
}

/** Whether what is encrypted is the key of `fullId` under `publicKey`: e(masked, g) = e(ephemeral, session) · e(H(id), pk). */
export function isEncryptionOf(key: EncryptedKey, fullId: Uint8Array, publicKey: G2Point, session: G2Point): boolean {
  const product = bls12_381.pairingBatch([
    { g1: key.masked.negate(), g2: bls12_381.G2.Point.BASE },
    { g1: key.ephemeral, g2: session },
    { g1: identityPoint(fullId), g2: publicKey },
  ]);
  return bls12_381.fields.Fp12.eql(product, bls12_381.fields.Fp12.ONE);
}

export function encodeEncryptedKey(key: EncryptedKey): [string, string] {
  return [toBase64(key.ephemeral.toBytes()), toBase64(key.masked.toBytes())];
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

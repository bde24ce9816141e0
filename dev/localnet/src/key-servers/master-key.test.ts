import { bls12_381 } from "@noble/curves/bls12-381.js";
import { describe, expect, it } from "vitest";
import { deriveMasterKey, deriveUserKey, lagrangeWeight, publicKeyOf, SCALARS, shareMasterKey } from "./master-key.ts";
import { combineShares, encryptUserKey, isEncryptionOf } from "./encrypted-key.ts";

describe("master keys", () => {
  it("are derived as Seal's own key server derives them (its vector: seed of 32 ones, index 42)", () => {
    const key = deriveMasterKey(new Uint8Array(32).fill(1), 42);
    expect(key.toString(16)).toBe("17d496df95e12b5caec0c4a15b09a5ea41b4fb1cf3ba28f1c6c72556846a6db6");
  });

  it("come back from any three of five shares, and not from two", () => {
    const coefficients = [11n, 22n, 33n].map((index) => deriveMasterKey(new Uint8Array(32), Number(index)));
    const shares = shareMasterKey(coefficients, 5);
    const opened = (parties: number[]): bigint =>
      parties.reduce((sum, p) => SCALARS.add(sum, SCALARS.mul(shares[p]!.key, lagrangeWeight(p, parties))), 0n);
    expect(opened([0, 1, 2])).toBe(coefficients[0]);
    expect(opened([4, 1, 3])).toBe(coefficients[0]);
    expect(opened([0, 1])).not.toBe(coefficients[0]);
  });
});

describe("encrypted answers", () => {
  const id = new Uint8Array(88).fill(7);
  const session = SCALARS.create(123456789n);
  const to = bls12_381.G1.Point.BASE.multiply(session);
  const verification = bls12_381.G2.Point.BASE.multiply(session);

  it("are put together from shares without being opened, and are told from those of another key", () => {
    const master = deriveMasterKey(new Uint8Array(32), 1);
    const shares = shareMasterKey([master, 5n, 6n], 5);
    const answers = [4, 0, 2].map((party) => ({
      party,
      key: encryptUserKey(deriveUserKey(shares[party]!.key, id), to),
    }));
    const combined = combineShares(answers);
    const opened = combined.masked.subtract(combined.ephemeral.multiply(session));
    expect(opened.equals(deriveUserKey(master, id))).toBe(true);
    expect(isEncryptionOf(combined, id, publicKeyOf(master), verification)).toBe(true);
    expect(isEncryptionOf(combined, id, publicKeyOf(5n), verification)).toBe(false);
    expect(isEncryptionOf(combined, new Uint8Array(88), publicKeyOf(master), verification)).toBe(false);
  });
});

import { Ed25519Keypair, Ed25519PublicKey } from "@mysten/sui/keypairs/ed25519";
import { Secp256k1Keypair } from "@mysten/sui/keypairs/secp256k1";
import { Secp256r1Keypair } from "@mysten/sui/keypairs/secp256r1";
import {
  computeZkLoginAddressFromSeed,
  generateNonce,
  generateRandomness,
  getExtendedEphemeralPublicKey,
  jwtToAddress,
} from "@mysten/sui/zklogin";
import { describe, expect, it } from "vitest";
import { suiZklogin } from "./sui.ts";

const GOOGLE = {
  issuer: "https://accounts.google.com",
  audience: "25769832374-famecqrhe2gkebt5fvqms2263046lj96.apps.googleusercontent.com",
  subject: "106294049240999307923",
  salt: "129390038577185583942388216820280642146",
};

describe("the nonce of an ephemeral key", () => {
  it("is what @mysten/sui makes of it, for each kind of key", async () => {
    for (const pair of [new Ed25519Keypair(), new Secp256k1Keypair(), new Secp256r1Keypair()]) {
      const publicKey = pair.getPublicKey();
      const key = {
        publicKey: getExtendedEphemeralPublicKey(publicKey),
        maxEpoch: 1234,
        randomness: generateRandomness(),
      };
      const nonce = await suiZklogin.nonceOf(key);
      expect(nonce).toMatch(/^[\w-]{27}$/);
      expect(nonce).toBe(generateNonce(publicKey, key.maxEpoch, key.randomness));
    }
  });

  it("is fixed for fixed values, and another for another epoch or randomness", async () => {
    const publicKey = new Ed25519PublicKey(Uint8Array.from({ length: 32 }, (_, index) => index)).toSuiPublicKey();
    const key = { publicKey, maxEpoch: 954, randomness: "176720613486626510701865194896961140211" };
    expect(await suiZklogin.nonceOf(key)).toBe("h_ahYXX0U0MtCYrVzVHTqvPIf2c");
    expect(await suiZklogin.nonceOf({ ...key, maxEpoch: 955 })).not.toBe("h_ahYXX0U0MtCYrVzVHTqvPIf2c");
    expect(await suiZklogin.nonceOf({ ...key, randomness: "1" })).not.toBe("h_ahYXX0U0MtCYrVzVHTqvPIf2c");
  });

  it("is refused for what cannot be one, without naming it", async () => {
    const good = { publicKey: new Ed25519Keypair().getPublicKey().toSuiPublicKey(), maxEpoch: 1, randomness: "1" };
    const bytes = (flag: number, length: number) =>
      Buffer.from([flag, ...Array.from({ length }, () => 7)]).toString("base64");
    const field = "21888242871839275222246405745257275088548364400416034343698204186575808495617";
    const bad = [
      { ...good, publicKey: bytes(0, 31) },
      { ...good, publicKey: bytes(0, 33) },
      { ...good, publicKey: bytes(1, 32) },
      { ...good, publicKey: bytes(3, 32) },
      { ...good, publicKey: bytes(5, 64) },
      { ...good, publicKey: `${good.publicKey}=` },
      { ...good, publicKey: "" },
      { ...good, maxEpoch: -1 },
      { ...good, maxEpoch: 1.5 },
      { ...good, maxEpoch: Number.MAX_SAFE_INTEGER + 1 },
      { ...good, randomness: field },
      { ...good, randomness: "-1" },
      { ...good, randomness: "0x1" },
      { ...good, randomness: "" },
    ];
    for (const key of bad) {
      const error = await suiZklogin.nonceOf(key).then(
        () => null,
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(RangeError);
      if (key.publicKey.length > 8) expect(String(error)).not.toContain(key.publicKey);
    }
  });
});

describe("the address of a subject", () => {
  it("is never the legacy one [S5.5-zklogin-address]", async () => {
    const seed = BigInt(await suiZklogin.addressSeedOf(GOOGLE));
    expect(await suiZklogin.addressOf(GOOGLE)).toBe(computeZkLoginAddressFromSeed(seed, GOOGLE.issuer, false));
    // A seed that begins with a zero byte is where the two derivations part: look for one.
    for (let salt = 1n; ; salt += 1n) {
      const claims = { ...GOOGLE, salt: String(salt) };
      const found = BigInt(await suiZklogin.addressSeedOf(claims));
      if (found >= 1n << 248n) continue;
      const address = await suiZklogin.addressOf(claims);
      expect(address).toBe(computeZkLoginAddressFromSeed(found, GOOGLE.issuer, false));
      expect(address).not.toBe(computeZkLoginAddressFromSeed(found, GOOGLE.issuer, true));
      break;
    }
  });

  it("is what @mysten/sui derives from the token itself", async () => {
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const claims = { iss: GOOGLE.issuer, aud: GOOGLE.audience, sub: GOOGLE.subject };
    const token = `${encode({ alg: "RS256" })}.${encode(claims)}.x`;
    expect(await suiZklogin.addressOf(GOOGLE)).toBe(jwtToAddress(token, GOOGLE.salt, false));
  });

  it("agrees with the published vector for a seed, and with itself for ever", async () => {
    // The vector of @mysten/sui's own tests.
    const seed = 13322897930163218532266430409510394316985274769125667290600321564259466511711n;
    expect(computeZkLoginAddressFromSeed(seed, GOOGLE.issuer, false)).toBe(
      "0xf7badc2b245c7f74d7509a4aa357ecf80a29e7713fb4c44b0e7541ec43885ee1",
    );
    // What this derivation answered when accounts began to depend on it: it must not change with the library.
    expect(await suiZklogin.addressSeedOf(GOOGLE)).toBe(
      "6108066888816152909779260797647401844352456009615316883911918765612489541289",
    );
    expect(await suiZklogin.addressOf(GOOGLE)).toBe(
      "0x22c206f1ac4ae07069ccc61a9fc9ccc8f85dfb25ceff57869e40804ce71a7bfe",
    );
  });

  it("is another for another issuer, audience, subject or salt", async () => {
    const others = [
      GOOGLE,
      { ...GOOGLE, issuer: "https://issuer.example" },
      { ...GOOGLE, audience: "another" },
      { ...GOOGLE, subject: "another" },
      { ...GOOGLE, salt: "1" },
    ];
    const addresses = await Promise.all(others.map((claims) => suiZklogin.addressOf(claims)));
    expect(new Set(addresses).size).toBe(others.length);
  });

  it("is refused for claims that zkLogin cannot take, without naming them", async () => {
    const long = "x".repeat(300);
    const bad = [
      { ...GOOGLE, subject: "s".repeat(116) },
      { ...GOOGLE, subject: 'quo"te-in-it' },
      { ...GOOGLE, audience: "a".repeat(146) },
      { ...GOOGLE, issuer: `https://${long}` },
      { ...GOOGLE, salt: String(1n << 128n) },
      { ...GOOGLE, salt: "salt" },
    ];
    for (const claims of bad) {
      const error = await suiZklogin.addressOf(claims).then(
        () => null,
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(RangeError);
      for (const value of Object.values(claims)) {
        if (value.length > 8) expect(String(error)).not.toContain(value);
      }
    }
  });
});

import { inspect } from "node:util";
import { Point, sign } from "@noble/ed25519";
import { sha512 } from "@noble/hashes/sha2.js";
import { describe, expect, it } from "vitest";
import { concatBytes } from "./bytes.ts";
import { ed25519StatementSigner, verifyEd25519, verifyEd25519Portably } from "./ed25519.ts";
import { findNativeEd25519, webEd25519 } from "./native-ed25519.ts";
import { SecretKey } from "./secret-key.ts";
import { bitFlips } from "./vault.test-kit.ts";

const { n: L, p: P } = Point.CURVE();
const SEED = new Uint8Array(32).fill(7);
const MESSAGE = new Uint8Array(32).fill(3);
const SIGNER = ed25519StatementSigner(SEED);

function hex(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, "hex"));
}

function littleEndian(value: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, index) => Number((value >> BigInt(8 * index)) & 0xffn));
}

function readLittleEndian(bytes: Uint8Array): bigint {
  return bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
}

/** What the product asks, alone and beside others, and the same without the platform. They must agree, whatever it is. */
async function verdict(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean> {
  const answer = await verifyEd25519(publicKey, message, signature);
  const beside = [0, 1].map(() => verifyEd25519(publicKey, message, signature));
  expect(await Promise.all(beside)).toEqual([answer, answer]);
  expect(verifyEd25519Portably(publicKey, message, signature)).toBe(answer);
  return answer;
}

/** The eight points of small order, in their canonical encodings, and every other encoding of them that some library reads. */
const TORSION = Point.fromBytes(hex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"));
const SMALL_ORDER = Array.from({ length: 8 }, (_, index) => TORSION.multiply(BigInt(index), false).toBytes());
const ODD_ENCODINGS = [
  ...[P, P + 1n].flatMap((y) => [littleEndian(y), littleEndian(y | (1n << 255n))]),
  ...[1n, P - 1n].map((y) => littleEndian(y | (1n << 255n))),
];

describe("Ed25519", () => {
  it("knows RFC 8032 §7.1, tests 1 to 3", async () => {
    for (const [seed, key, message, signature] of RFC_8032) {
      expect(ed25519StatementSigner(seed).publicKey).toEqual(key);
      expect(await ed25519StatementSigner(seed).sign(message)).toEqual(signature);
      expect(await verdict(key, message, signature)).toBe(true);
    }
  });

  it("refuses keys of small order, for which one signature fits every message", async () => {
    expect(new Set(SMALL_ORDER.map((point) => point.join())).size).toBe(8);
    for (const key of [...SMALL_ORDER, ...ODD_ENCODINGS])
      for (const r of SMALL_ORDER) expect(await verdict(key, MESSAGE, concatBytes(r, new Uint8Array(32)))).toBe(false);
  });

  it("refuses an R of small order under an honest key", async () => {
    // k·A + 0 = S·B with S = k·a: only who has the key can make it, and it still is no signature.
    for (const r of SMALL_ORDER) {
      const k = readLittleEndian(sha512(concatBytes(r, SIGNER.publicKey, MESSAGE))) % L;
      const s = (k * secretScalar(SEED)) % L;
      expect(await verdict(SIGNER.publicKey, MESSAGE, concatBytes(r, littleEndian(s)))).toBe(false);
    }
  });

  it("refuses S + L, and S of 256 bits", async () => {
    const signature = await SIGNER.sign(MESSAGE);
    const s = readLittleEndian(signature.subarray(32));
    for (let value = s + L; value < 1n << 256n; value += L)
      expect(
        await verdict(SIGNER.publicKey, MESSAGE, concatBytes(signature.subarray(0, 32), littleEndian(value))),
      ).toBe(false);
  });

  it("gives one answer for keys with a part of small order, where libraries with and without the cofactor differ [M9]", async () => {
    const answers = new Set<boolean>();
    const a = secretScalar(SEED);
    for (let count = 0; count < 24; count += 1) {
      const key = Point.BASE.multiply(a)
        .add(Point.fromBytes(SMALL_ORDER[1 + (count % 7)]!))
        .toBytes();
      const message = Uint8Array.of(count);
      const nonce = BigInt(1000 + count);
      const r = Point.BASE.multiply(nonce).toBytes();
      const k = readLittleEndian(sha512(concatBytes(r, key, message))) % L;
      const signature = concatBytes(r, littleEndian((nonce + k * a) % L));
      answers.add(await verdict(key, message, signature));
    }
    // Where the small part vanishes, it is a signature; everywhere else it is none.
    expect(answers).toEqual(new Set([true, false]));
  });

  it("refuses every flipped bit of key, message and signature", async () => {
    const signature = await SIGNER.sign(MESSAGE);
    for (const flipped of bitFlips(signature))
      expect(await verifyEd25519(SIGNER.publicKey, MESSAGE, flipped)).toBe(false);
    for (const flipped of bitFlips(MESSAGE))
      expect(await verifyEd25519(SIGNER.publicKey, flipped, signature)).toBe(false);
    for (const flipped of bitFlips(SIGNER.publicKey))
      expect(await verifyEd25519(flipped, MESSAGE, signature)).toBe(false);
  });

  it("tells the one false signature from those that are verified beside it", async () => {
    const good = await SIGNER.sign(MESSAGE);
    for (const flipped of bitFlips(good)) {
      const answers = [good, flipped, good].map((each) => verifyEd25519(SIGNER.publicKey, MESSAGE, each));
      expect(await Promise.all(answers)).toEqual([true, false, true]);
    }
  });

  it("refuses other lengths, and bytes that are no point, without throwing", async () => {
    const signature = await SIGNER.sign(MESSAGE);
    const noPoint = littleEndian(2n);
    expect(() => Point.fromBytes(noPoint)).toThrow();
    expect(await verdict(noPoint, MESSAGE, signature)).toBe(false);
    expect(await verdict(SIGNER.publicKey.subarray(1), MESSAGE, signature)).toBe(false);
    expect(await verdict(SIGNER.publicKey, MESSAGE, signature.subarray(1))).toBe(false);
    expect(await verdict(new Uint8Array(0), MESSAGE, new Uint8Array(0))).toBe(false);
  });

  it("signs and verifies alike with node:crypto, WebCrypto and @noble/ed25519", async () => {
    const native = await findNativeEd25519();
    const web = webEd25519(crypto.subtle);
    const signature = sign(MESSAGE, SEED);
    for (const platform of [native!, web]) {
      expect(await platform.sign(new SecretKey(SEED), MESSAGE)).toEqual(signature);
      expect(await platform.verify(SIGNER.publicKey, MESSAGE, signature)).toBe(true);
      expect(await platform.verify(SIGNER.publicKey, Uint8Array.of(1), signature)).toBe(false);
      expect(await platform.verify(littleEndian(2n), MESSAGE, signature)).toBe(false);
    }
  });

  it("takes seeds of 32 bytes only, and shows them nowhere", () => {
    expect(() => ed25519StatementSigner(new Uint8Array(31))).toThrow(RangeError);
    const seed = Uint8Array.from({ length: 32 }, (_, index) => 100 + index);
    const text = inspect(ed25519StatementSigner(seed), { showHidden: true, depth: 20 });
    expect(text).toContain("publicKey");
    for (const form of ["100, 101, 102", Buffer.from(seed).toString("hex"), Buffer.from(seed).toString("base64")])
      expect(text).not.toContain(form);
  });
});

/** RFC 8032 §5.1.5. */
function secretScalar(seed: Uint8Array): bigint {
  const half = sha512(seed).slice(0, 32);
  half[0]! &= 248;
  half[31] = (half[31]! & 127) | 64;
  return readLittleEndian(half) % L;
}

const RFC_8032 = [
  [
    "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
    "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    "",
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
  ],
  [
    "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
    "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    "72",
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
  ],
  [
    "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
    "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
    "af82",
    "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
  ],
].map((row) => row.map(hex)) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array][];

import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Point, verify } from "@noble/ed25519";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { digestOf, isSignedMessage } from "../chain-proofs/ed25519.ts";
import { openSigner, SMALL_ORDER } from "../chain-proofs/signer.test-kit.ts";
import { signRecord } from "./statements.test-kit.ts";

const RUNS = process.env["COFFER_TEST_COUNTS"] === "full" ? 500 : 20;

const signer = openSigner(Uint8Array.from({ length: 32 }, (_, index) => index + 1));
const { publicKey } = signer;
const TITLE = "coffer/vault-key/v1";
const record = Buffer.from(signRecord(signer, { vault: `0x${"a".repeat(64)}`, generation: 1 }), "base64");
const [body, signature] = [record.subarray(0, -64), record.subarray(-64)];

const messageOf = (title: string, bytes: Uint8Array) => Buffer.concat([Buffer.from(`${title}\0`), bytes]);
const isSigned = (title: string, bytes: Uint8Array, signed: Parameters<typeof isSignedMessage>[1]) =>
  isSignedMessage(messageOf(title, bytes), signed);

/** The group's order: S and S + ORDER satisfy the same equation (RFC 8032 §8.4). */
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

describe("a statement's signature", () => {
  it("is a Sui personal message of title, zero and body, as @mysten/sui signs it", async () => {
    const keypair = Ed25519Keypair.fromSecretKey(signer.seed);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 5000 }), async (bytes) => {
        const theirs = await keypair.signPersonalMessage(Buffer.concat([Buffer.from(`${TITLE}\0`), bytes]));
        const signed = Buffer.from(theirs.signature, "base64").subarray(1, 65);
        expect(isSigned(TITLE, bytes, { publicKey, signature: signed })).toBe(true);
        expect(isSigned("coffer/entry/v1", bytes, { publicKey, signature: signed })).toBe(false);
      }),
      { numRuns: RUNS },
    );
    expect(isSigned(TITLE, body, { publicKey, signature })).toBe(true);
  });

  it("does not survive a changed bit, in the body or in itself", () => {
    const bit = fc.integer({ min: 0, max: record.length * 8 - 1 });
    fc.assert(
      fc.property(bit, (at) => {
        const changed = Buffer.from(record);
        changed[at >> 3] = (changed[at >> 3] ?? 0) ^ (1 << (at & 7));
        const signed = { publicKey, signature: changed.subarray(-64) };
        expect(isSigned(TITLE, changed.subarray(0, -64), signed)).toBe(false);
      }),
      { numRuns: RUNS * 2 },
    );
  });

  it("has one form: S below the order, and the lengths that it has", () => {
    const scalar = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString("hex")}`);
    const second = Buffer.from((scalar + ORDER).toString(16).padStart(64, "0"), "hex").reverse();
    const malleable = Buffer.concat([signature.subarray(0, 32), second]);
    const longer = Buffer.concat([signature, Uint8Array.of(0)]);
    for (const other of [malleable, longer, signature.subarray(0, 63), new Uint8Array(0)])
      expect(isSigned(TITLE, body, { publicKey, signature: other })).toBe(false);
    for (const other of [publicKey.subarray(1), new Uint8Array(0), Buffer.concat([publicKey, Uint8Array.of(0)])])
      expect(isSigned(TITLE, body, { publicKey: other, signature })).toBe(false);
  });

  /** R = identity and S = 0 fit any text under such a key, for a lenient verifier; so does every eighth or better R = S·B. */
  it.each(SMALL_ORDER)("is not had with the key of small order %s", (hex) => {
    const key = Buffer.from(hex, "hex");
    expect(Point.fromBytes(key, true).isSmallOrder()).toBe(true);
    for (let s = 1; s <= 64; s += 1) {
      const forged = Buffer.concat([Point.BASE.multiply(BigInt(s)).toBytes(), Uint8Array.of(s), Buffer.alloc(31)]);
      expect(isSigned(TITLE, body, { publicKey: key, signature: forged })).toBe(false);
    }
    const identity = Buffer.from(`01${"00".repeat(31)}`, "hex");
    for (const r of [identity, key]) {
      const forged = Buffer.concat([r, Buffer.alloc(32)]);
      expect(isSigned(TITLE, body, { publicKey: key, signature: forged })).toBe(false);
      expect(isSigned(TITLE, body, { publicKey, signature: forged })).toBe(false);
    }
  });

  it("is of 32 bytes that are a point: others are nobody's", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (key) => {
        expect(isSigned(TITLE, body, { publicKey: key, signature })).toBe(false);
      }),
      { numRuns: RUNS },
    );
  });

  it("is the digest's, which the portable verifier takes as well", async () => {
    const { hashes } = await import("@noble/ed25519");
    const { sha512 } = await import("@noble/hashes/sha2.js");
    hashes.sha512 = sha512;
    expect(verify(signature, digestOf(messageOf(TITLE, body)), publicKey, { zip215: false })).toBe(true);
  });
});

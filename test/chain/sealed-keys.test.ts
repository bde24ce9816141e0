/** What comes from the service as a sealed vault key is checked before anybody is asked, or asked to sign. */
import { EncryptedObject } from "@mysten/seal";
import { toHex } from "@mysten/sui/utils";
import fc from "fast-check";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { keypairOf, openKeyWrapBench, placeOf, type KeyWrapBench } from "../kit/key-wrap-bench.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
const owner = keypairOf(1);
const key = new Uint8Array(32).fill(42);
const place = placeOf(1n);
let bench: KeyWrapBench;
let sealed: Uint8Array;
let parsed: ReturnType<typeof EncryptedObject.parse>;

beforeAll(async () => {
  bench = await openKeyWrapBench();
  bench.chain.members.add(owner.toSuiAddress());
  sealed = await bench.wrapOf(owner).wrap(key, place);
  parsed = EncryptedObject.parse(sealed);
});
beforeEach(() => bench.reset());

/** Nobody was asked and nothing was signed. */
async function expectRefused(sealedKey: Uint8Array, at = place): Promise<void> {
  const refused = bench.wrapOf(owner).unwrap([{ sealedKey, place: at }]);
  await expect(refused).rejects.toMatchObject({ name: "CryptoError", code: "damaged", step: "record" });
  expect([bench.asked(), bench.signed, bench.chain.requests]).toEqual([[0, 0, 0], [], 0]);
}

describe("a sealed vault key", () => {
  it("is bound to vault, generation and creator, under the original package, for the set that is written with", async () => {
    expect(sealed.length).toBeLessThan(1024);
    expect(parsed).toMatchObject({ version: 0, packageId: bench.network.originalPackageId, threshold: 2 });
    expect(parsed.id.slice(0, 80)).toBe(`${toHex(place.vault)}0000000000000001`);
    const another = EncryptedObject.parse(await bench.wrapOf(owner).wrap(key, place));
    expect(another.id.slice(0, 80)).toBe(parsed.id.slice(0, 80));
    expect(another.id.slice(80)).not.toBe(parsed.id.slice(80));
    // A Buffer stands for bytes in the middle of others.
    const pooled = Buffer.concat([Buffer.alloc(7), sealed]).subarray(7);
    expect(await bench.wrapOf(owner).unwrap([{ sealedKey: pooled, place }])).toEqual([key]);
  });

  it("is refused at any other place", async () => {
    await expectRefused(sealed, { ...place, vault: new Uint8Array(32).fill(0xab) });
    await expectRefused(sealed, { ...place, generation: 2n });
    await expectRefused(sealed, { ...place, creator: new Uint8Array(32) });
  });

  it("is refused in any other form, whoever made it", async () => {
    const gcm = parsed.ciphertext.Aes256Gcm!;
    const shares = parsed.encryptedShares.BonehFranklinBLS12381;
    const [first, second, third] = parsed.services;
    const stranger = [`0x${"77".repeat(32)}`, 1] as [string, number];
    const spoiled: Record<string, Partial<typeof parsed>> = {
      "another version": { version: 1 },
      "another package": { packageId: `0x${"99".repeat(32)}` },
      "a longer identity": { id: `${parsed.id}00` },
      "a shorter identity": { id: parsed.id.slice(0, -2) },
      "the identity of another vault": { id: `bb${parsed.id.slice(2)}` },
      "a server that is not accepted": { services: [stranger, second!, third!] },
      "a server twice": { services: [first!, first!, third!] },
      "too few servers": { services: [first!, second!] },
      "one more server": { services: [...parsed.services, stranger] },
      "one index twice": { services: [first!, second!, [third![0], second![1]]] },
      "an index of zero": { services: [[first![0], 0], second!, third!] },
      "an index above the shares": { services: [first!, second!, [third![0], 4]] },
      "a lower threshold": { threshold: 1 },
      "a higher threshold": { threshold: 3 },
      "fewer shares": sharesOf({ ...shares, encryptedShares: shares.encryptedShares.slice(1) }),
      "more shares": sharesOf({ ...shares, encryptedShares: [...shares.encryptedShares, new Uint8Array(32)] }),
      "a longer key": cipherOf({ Aes256Gcm: { ...gcm, blob: new Uint8Array(49) } }),
      "no associated data": cipherOf({ Aes256Gcm: { ...gcm, aad: null } }),
      "empty associated data": cipherOf({ Aes256Gcm: { ...gcm, aad: new Uint8Array() } }),
      "another cipher": cipherOf({ Hmac256Ctr: { ...gcm, mac: new Uint8Array(32) } }),
      "no cipher": cipherOf({ Plain: {} }),
    };
    for (const [what, change] of Object.entries(spoiled)) {
      const bytes = EncryptedObject.serialize({ ...parsed, ...change }).toBytes();
      await expectRefused(bytes).catch((error: unknown) => {
        throw new Error(`not refused: ${what}`, { cause: error });
      });
    }
  });

  it("is refused when it is cut, longer, empty, huge, or the same object written in other bytes", async () => {
    // Lengths in BCS could be written too long: 56 as b8 00.
    const at = 1 + 32;
    const longLength = Uint8Array.of(...sealed.slice(0, at), 0xb8, 0x00, ...sealed.slice(at + 1));
    const followed = Uint8Array.of(...sealed, 0);
    for (const bytes of [
      new Uint8Array(),
      sealed.slice(0, -1),
      followed,
      longLength,
      new Uint8Array(3585),
      new Uint8Array(1 << 20),
    ])
      await expectRefused(bytes);
  });

  it("is never opened to another key when any byte of it is changed", async () => {
    const wrap = bench.wrapOf(owner);
    const changed = fc.tuple(fc.nat(sealed.length - 1), fc.integer({ min: 1, max: 255 }));
    await fc.assert(
      fc.asyncProperty(changed, async ([at, mask]) => {
        const bytes = sealed.map((byte, index) => (index === at ? byte ^ mask : byte));
        await expect(wrap.unwrap([{ sealedKey: bytes, place }])).rejects.toMatchObject({
          code: "damaged",
          step: "record",
        });
      }),
      { numRuns: FULL ? 300 : 12 },
    );
  });
});

function sharesOf(shares: object): Partial<typeof parsed> {
  return { encryptedShares: { $kind: "BonehFranklinBLS12381", BonehFranklinBLS12381: shares } } as Partial<
    typeof parsed
  >;
}

function cipherOf(cipher: object): Partial<typeof parsed> {
  return { ciphertext: { $kind: Object.keys(cipher)[0], ...cipher } } as unknown as Partial<typeof parsed>;
}

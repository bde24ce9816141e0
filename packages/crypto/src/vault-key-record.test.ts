import fc from "fast-check";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { concatBytes, encodeU16, equalBytes } from "./bytes.ts";
import { findSigner, isMemberIn, placeOf, type VaultView } from "./membership.ts";
import { isRecordForWriting, MAX_RECORD_BYTES, parseRecord, signRecord, verifyRecord } from "./vault-key-record.ts";
import { DataKey, type SecretKey } from "./secret-key.ts";
import {
  at,
  bitFlips,
  entryOf,
  failureOf,
  MEMBER,
  OWNER,
  person,
  READER,
  REMOVED,
  STRANGER,
  testKeyWrap,
  VAULT,
  VIEW,
  viewIn,
  WRAP,
} from "./vault.test-kit.ts";
import { randomVaultKey, VaultKey } from "./vault-key.ts";
import { END_STEP_MS, NO_END } from "./place.ts";
import { newVaultKeyRecord, openVaultKeys } from "./vault-key-sealer.ts";

const RUNS = process.env["COFFER_TEST_COUNTS"] === "full" ? 500 : 30;
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
const u64 = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });
const quarter = fc.bigInt({ min: 0n, max: NO_END / END_STEP_MS }).map((count) => count * END_STEP_MS);

const FIELDS = {
  vault: VAULT,
  ...at(5n),
  creator: MEMBER.address,
  check: new Uint8Array(32).fill(1),
  sealedKey: new Uint8Array(400).fill(2),
};

describe("a vault key's record", () => {
  it("is what was signed, for every field and every length of sealed key", async () => {
    const fields = fc.record({
      vault: bytes32,
      generation: u64,
      after: quarter,
      creator: bytes32,
      check: bytes32,
      sealedKey: fc.uint8Array({ minLength: 1, maxLength: 3584, size: "max" }),
    });
    await fc.assert(
      fc.asyncProperty(fields, async (given) => {
        const record = await signRecord(given, MEMBER.signer);
        expect(record).toMatchObject({ ...given, maker: given.creator });
        expect(parseRecord(record.bytes)).toEqual(record);
      }),
      { numRuns: RUNS },
    );
  });

  it("is refused in whole when one bit is another", async () => {
    const record = await signRecord({ ...FIELDS, sealedKey: new Uint8Array(40).fill(2) }, MEMBER.signer);
    await verifyRecord(VIEW, record);
    for (const flipped of bitFlips(record.bytes))
      expect(await failureOf(async () => verifyRecord(VIEW, parseRecord(flipped)))).toMatch(
        /^record (damaged|vault_changed)$/,
      );
  });

  it("is refused cut, continued, and with a length that is not its own", async () => {
    const { bytes } = await signRecord(FIELDS, MEMBER.signer);
    for (let length = 0; length < bytes.length; length += 1)
      expect(await failureOf(() => parseRecord(bytes.subarray(0, length)))).toBe("record damaged");
    expect(await failureOf(() => parseRecord(concatBytes(bytes, Uint8Array.of(0))))).toBe("record damaged");
    for (const length of [0, 399, 401, 3584, 65535]) {
      const other = concatBytes(bytes.subarray(0, 208), encodeU16(length), bytes.subarray(210));
      expect(await failureOf(() => parseRecord(other))).toBe("record damaged");
    }
    const empty = concatBytes(bytes.subarray(0, 208), encodeU16(0), bytes.subarray(-64));
    expect(await failureOf(() => parseRecord(empty))).toBe("record damaged");
    expect(await failureOf(() => parseRecord(new Uint8Array(MAX_RECORD_BYTES + 1)))).toBe("record damaged");
  });

  it("refuses to sign fields of other lengths", async () => {
    const wrong = {
      sealedKey: new Uint8Array(3585),
      vault: new Uint8Array(31),
      check: VAULT.subarray(1),
      generation: -1n,
    };
    for (const [name, value] of Object.entries(wrong))
      await expect(signRecord({ ...FIELDS, [name]: value }, MEMBER.signer)).rejects.toThrow(RangeError);
    await expect(signRecord({ ...FIELDS, sealedKey: new Uint8Array(0) }, MEMBER.signer)).rejects.toThrow(RangeError);
    const broken = { publicKey: MEMBER.signer.publicKey, sign: async () => new Uint8Array(65) };
    await expect(signRecord(FIELDS, broken)).rejects.toThrow(RangeError);
  });

  it("is refused from whoever was not a member of its generation, or signs with another key", async () => {
    const by = (author: typeof MEMBER, generation = 5n, signer = author.signer): Promise<string> =>
      failureOf(async () =>
        verifyRecord(VIEW, await signRecord({ ...FIELDS, generation, creator: author.address }, signer)),
      );
    expect(await by(OWNER)).toBe("accepted");
    expect(await by(REMOVED, 4n)).toBe("accepted");
    expect(await by(REMOVED, 5n)).toBe("record damaged");
    expect(await by(REMOVED, 1n)).toBe("record damaged");
    expect(await by(MEMBER, 2n)).toBe("record damaged");
    expect(await by(MEMBER, 6n)).toBe("record damaged");
    expect(await by(STRANGER)).toBe("record damaged");
    expect(await by(READER)).toBe("record damaged");
    expect(await by(MEMBER, 5n, STRANGER.signer)).toBe("record damaged");
    expect(await by(MEMBER, 5n, OWNER.signer)).toBe("record damaged");
  });

  it("names who made the key, whoever sealed it, and is refused unless both were members there", async () => {
    const first = await signRecord(FIELDS, MEMBER.signer);
    const again = async (origin: Partial<typeof first>, creator = OWNER): Promise<string> => {
      const fields = { ...FIELDS, creator: creator.address, origin: { ...first, ...origin } };
      return failureOf(async () => verifyRecord(VIEW, await signRecord(fields, creator.signer)));
    };
    expect(await again({})).toBe("accepted");
    const resealed = await signRecord({ ...FIELDS, creator: OWNER.address, origin: first }, OWNER.signer);
    expect([resealed.maker, resealed.made]).toEqual([MEMBER.address, first.made]);
    const byStranger = await signRecord({ ...FIELDS, creator: STRANGER.address }, STRANGER.signer);
    expect(await again(byStranger)).toBe("record damaged");
    expect(await again({ maker: OWNER.address })).toBe("record damaged");
    expect(await again({}, STRANGER)).toBe("record damaged");
    for (const other of [{ check: new Uint8Array(32).fill(7) }, at(4n), at(5n, END_STEP_MS)]) {
      const { made } = await signRecord({ ...FIELDS, ...other }, MEMBER.signer);
      expect(await again({ made })).toBe("record damaged");
    }
    expect(isRecordForWriting(VIEW, resealed)).toBe(true);
    // The maker left, and the key stays readable where it was a member: writers want another key.
    expect(isRecordForWriting({ ...VIEW, members: [] }, resealed)).toBe(false);
  });

  it("is refused when it is another vault's", async () => {
    const record = await signRecord({ ...FIELDS, vault: new Uint8Array(32).fill(0xbb) }, MEMBER.signer);
    expect(await failureOf(() => verifyRecord(VIEW, record))).toBe("record vault_changed");
  });

  it("serves a writer only in the generation it was made for, by a member of now", async () => {
    const record = await signRecord(FIELDS, MEMBER.signer);
    expect(isRecordForWriting(VIEW, record)).toBe(true);
    expect(isRecordForWriting({ ...VIEW, generation: 6n }, record)).toBe(false);
    expect(isRecordForWriting({ ...VIEW, members: [] }, record)).toBe(false);
  });
});

describe("membership", () => {
  it("holds from its first generation to its last", () => {
    const heldBy = (author: typeof MEMBER): boolean[] =>
      [1n, 2n, 3n, 4n, 5n, 6n].map((g) => isMemberIn(VIEW, author.address, at(g)));
    expect(heldBy(OWNER)).toEqual([true, true, true, true, true, false]);
    expect(heldBy(MEMBER)).toEqual([false, false, true, true, true, false]);
    expect(heldBy(REMOVED)).toEqual([false, true, true, true, false, false]);
    expect(heldBy(READER)).toEqual([false, false, true, true, true, false]);
    expect(heldBy(STRANGER)).toEqual([false, false, false, false, false, false]);
  });

  it("ends by itself: nobody signs at its end or after it, and whoever is left does [M14]", () => {
    const end = END_STEP_MS * 2_000_000n;
    const ending = { ...entryOf(REMOVED, 3n), endsAt: end };
    const view = (time: bigint, until: bigint | null = null) => ({
      ...VIEW,
      time,
      members: [...VIEW.members, { ...ending, until }],
      former: [],
    });
    const signs = (from: VaultView, after: bigint, generation = 5n): boolean[] =>
      [REMOVED, MEMBER].map(({ address }) => findSigner(from, address, at(generation, after)) !== null);
    expect(placeOf(view(end - 1n))).toEqual(at(5n));
    expect(placeOf(view(end))).toEqual(at(5n, end));
    expect(signs(view(end), 0n)).toEqual([true, true]);
    expect(signs(view(end), end)).toEqual([false, true]);
    expect(signs(view(end), end - END_STEP_MS)).toEqual([true, true]);
    // A place that is to come is nobody's.
    expect(signs(view(end - 1n), end)).toEqual([false, false]);
    // Marked: it held until that generation, and makes no place of a later one.
    const marked = { ...view(end, 5n), generation: 6n };
    expect(placeOf(marked)).toEqual(at(6n));
    expect(signs(marked, 0n, 5n)).toEqual([true, true]);
    expect(signs(marked, 0n, 6n)).toEqual([false, true]);
  });

  it("gives the key that held in the generation, none for a reader", () => {
    const renewed = { address: MEMBER.address, signer: person("member's second key").signer };
    const view = { ...VIEW, members: [entryOf(renewed, 5n)], former: [{ ...entryOf(MEMBER, 3n), until: 4n }] };
    expect(findSigner(view, MEMBER.address, at(4n))).toEqual(MEMBER.signer.publicKey);
    expect(findSigner(view, MEMBER.address, at(5n))).toEqual(renewed.signer.publicKey);
    expect(findSigner(VIEW, READER.address, at(5n))).toBeNull();
    expect(findSigner(VIEW, MEMBER.address.subarray(1), at(5n))).toBeNull();
  });
});

describe("vault keys", () => {
  it("open from their records, all with one request, in their order", async () => {
    const wrap = testKeyWrap("secret");
    const made = [
      await newVaultKeyRecord(viewIn(2n), wrap, REMOVED),
      await newVaultKeyRecord(viewIn(4n), wrap, MEMBER),
      await newVaultKeyRecord(VIEW, wrap, OWNER),
    ];
    const opened = await openVaultKeys(
      VIEW,
      made.map(({ record }) => record),
      wrap,
    );
    expect(opened.map(({ key }) => key.reveal())).toEqual(made.map(({ key }) => key.reveal()));
    expect(opened.map(({ key }) => key.generation)).toEqual([2n, 4n, 5n]);
    expect(wrap.requests).toEqual([3]);
    expect(await openVaultKeys(VIEW, [], wrap)).toEqual([]);
    expect(wrap.requests).toEqual([3]);
  });

  it("do not open, and nobody is asked, when one record is not in order", async () => {
    const wrap = testKeyWrap("secret");
    const good = await newVaultKeyRecord(VIEW, wrap, OWNER);
    const { record } = await newVaultKeyRecord({ ...VIEW, owner: entryOf(STRANGER, 1n) }, wrap, STRANGER);
    expect(await failureOf(() => openVaultKeys(VIEW, [good.record, record], wrap))).toBe("record damaged");
    // Fields that the signed bytes do not have are not looked at.
    const dressed = { ...record, creator: OWNER.address };
    expect(await failureOf(() => openVaultKeys(VIEW, [dressed], wrap))).toBe("record damaged");
    expect(wrap.requests).toEqual([]);
  });

  it("are refused when what was sealed is not the key that the record names, or not a key [K5]", async () => {
    const { record } = await newVaultKeyRecord(VIEW, WRAP, OWNER);
    const giving = (...keys: Uint8Array[]) => ({ ...WRAP, unwrap: async () => keys });
    for (const keys of [[new Uint8Array(32)], [new Uint8Array(31)], [new Uint8Array(33)], []])
      expect(await failureOf(() => openVaultKeys(VIEW, [record], giving(...keys)))).toBe("record wrong_key");
  });

  it("can be sealed again for other key servers, with the same check, by who was a member then", async () => {
    const { key, record } = await newVaultKeyRecord(viewIn(4n), WRAP, MEMBER);
    const other = testKeyWrap("other servers");
    const again = await newVaultKeyRecord(VIEW, other, OWNER, key, record);
    expect([again.record.creator, again.record.maker]).toEqual([OWNER.address, MEMBER.address]);
    expect(again.record.made).toEqual(record.made);
    const unlike = randomVaultKey(VAULT, at(4n));
    expect(await failureOf(() => newVaultKeyRecord(VIEW, other, OWNER, unlike, record))).toBe("record wrong_key");
    expect(again.record.generation).toBe(4n);
    expect(again.record.check).toEqual(record.check);
    expect(equalBytes(again.record.keyId, record.keyId)).toBe(false);
    const [opened] = await openVaultKeys(VIEW, [again.record], other);
    expect(opened?.key.reveal()).toEqual(key.reveal());
    const early = randomVaultKey(VAULT, at(2n));
    expect(await failureOf(() => newVaultKeyRecord(VIEW, other, MEMBER, early))).toBe("record wrong_key");
  });

  it("survive a wrap that takes over the bytes it is given", async () => {
    const taking = {
      ...WRAP,
      wrap: async (key: Uint8Array, ...rest: [Parameters<typeof WRAP.wrap>[1]]) => {
        const sealed = await WRAP.wrap(key, ...rest);
        structuredClone(key.buffer, { transfer: [key.buffer as ArrayBuffer] });
        return sealed;
      },
    };
    const { key, record } = await newVaultKeyRecord(VIEW, taking, OWNER);
    const [opened] = await openVaultKeys(VIEW, [record], WRAP);
    expect(opened?.key.reveal()).toEqual(key.reveal());
    expect(key.reveal().length).toBe(32);
  });

  it("are made by members with their own signing key only", async () => {
    for (const author of [STRANGER, READER, REMOVED, { ...MEMBER, signer: OWNER.signer }])
      expect(await failureOf(() => newVaultKeyRecord(VIEW, WRAP, author))).toBe("record wrong_key");
    const foreign = randomVaultKey(new Uint8Array(32), at(5n));
    expect(await failureOf(() => newVaultKeyRecord(VIEW, WRAP, OWNER, foreign))).toBe("record wrong_key");
  });

  it("have four subkeys, none of them the key", () => {
    const key = new VaultKey(VAULT, at(5n), new Uint8Array(32).fill(9));
    const subkeys = (["wrap", "metadata", "name-index", "check"] as const).map((use) => key.subkey(use).join());
    expect(new Set([...subkeys, key.reveal().join()]).size).toBe(5);
    expect(() => new VaultKey(VAULT.subarray(1), at(5n), new Uint8Array(32))).toThrow(RangeError);
    expect(() => new VaultKey(VAULT, at(-1n), new Uint8Array(32))).toThrow(RangeError);
    expect(() => new VaultKey(VAULT, at(5n), new Uint8Array(31))).toThrow(TypeError);
  });

  it("show neither themselves nor their subkeys in any text form [D6]", () => {
    const bytes = Uint8Array.from({ length: 32 }, (_, index) => 7 * index + 3);
    const vaultKey = new VaultKey(VAULT, at(5n), bytes);
    const secrets = [bytes, vaultKey.subkey("wrap"), vaultKey.subkey("metadata"), vaultKey.subkey("name-index")];
    const forms = secrets.flatMap((secret) => [
      ...(["hex", "base64", "base64url", "latin1"] as const).map((form) => Buffer.from(secret).toString(form)),
      Array.from(secret.subarray(0, 8)).join(", "),
      secret.subarray(0, 8).join(),
      Array.from(secret.subarray(0, 8), (byte) => byte.toString(16).padStart(2, "0")).join(" "),
    ]);
    for (const key of [vaultKey, new DataKey(bytes)])
      for (const text of textForms(key)) for (const form of forms) expect(text).not.toContain(form);
    expect(textForms(vaultKey)[0]).toBe("[redacted]");
  });
});

function textForms(key: SecretKey): string[] {
  return [
    String(key),
    JSON.stringify({ key }),
    inspect(key),
    inspect(key, { showHidden: true, depth: 20, customInspect: false }),
    inspect({ key }, { showHidden: true, depth: 20 }),
    JSON.stringify(Object.entries(key), (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)),
    String(new Error("failed", { cause: key })),
    inspect(new Error("failed", { cause: key }), { depth: 20 }),
  ];
}

import fc from "fast-check";
import { expect, it } from "vitest";
import { decodeVaultObject, vaultObjectType } from "./vault-object.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";

interface Parts {
  readonly members: number;
  readonly former: number;
  readonly key: number;
}

/** A vault object by hand: id, generation 2, floor 1, base 1, no plain names, owner, no offer, members, former, oldest, last, before. */
function encode({ members, former, key }: Parts): Uint8Array {
  const address = (byte: number): number[] => Array.from({ length: 32 }, () => byte);
  const u64 = (value: number): number[] => [value, 0, 0, 0, 0, 0, 0, 0];
  const uleb = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...uleb(value >>> 7)]);
  const entry = [...address(7), ...uleb(key), ...Array.from({ length: key }, () => 9), ...u64(1)];
  // An end, no mark, no key replaced.
  const member = [...entry, ...u64(5), ...u64(0), 0];
  const list = (count: number, item: number[]): number[] => [
    ...uleb(count),
    ...Array.from({ length: count }, () => item).flat(),
  ];
  const head = [...address(1), ...u64(2), ...u64(1), ...u64(1), 0, ...member, 0];
  return Uint8Array.from([
    ...head,
    ...list(members, member),
    ...list(former, [...entry, ...u64(1), ...u64(5)]),
    ...u64(0),
    ...[32, ...address(3), 32, ...address(4)],
  ]);
}

it("reads vaults up to their largest size", () => {
  const vault = decodeVaultObject(encode({ members: 1000, former: 1800, key: 32 }));
  expect([vault.members.length, vault.former.length]).toEqual([1000, 1800]);
  expect(vault.former[1799]).toEqual({
    chainAddress: `0x${"07".repeat(32)}`,
    signingKey: new Uint8Array(32).fill(9),
    since: 1n,
    until: 1n,
    endsAt: 5n,
  });
  expect(decodeVaultObject(encode({ members: 0, former: 0, key: 0 })).offered).toBeNull();
});

it("refuses vaults beyond the limits, and keys of other lengths", () => {
  for (const parts of [
    { members: 1001, former: 0, key: 0 },
    { members: 0, former: 1801, key: 0 },
    { members: 1, former: 1, key: 31 },
    { members: 0, former: 0, key: 33 },
  ])
    expect(() => decodeVaultObject(encode(parts))).toThrow(RangeError);
});

it("refuses every cut, every byte too much, and lengths written long", () => {
  const bytes = encode({ members: 2, former: 1, key: 32 });
  for (let length = 0; length < bytes.length; length++)
    expect(() => decodeVaultObject(bytes.subarray(0, length))).toThrow(RangeError);
  expect(() => decodeVaultObject(Uint8Array.of(...bytes, 0))).toThrow(RangeError);
  const whole = [...encode({ members: 0, former: 0, key: 0 })];
  // The length of the former entries, which stands before `oldest` and two digests.
  const at = whole.length - 2 * 33 - 8 - 1;
  const written = (...length: number[]) => Uint8Array.from([...whole.slice(0, at), ...length, ...whole.slice(at + 1)]);
  expect(decodeVaultObject(written(0)).former).toEqual([]);
  expect(() => decodeVaultObject(written(0x80, 0x00))).toThrow(RangeError);
  expect(() => decodeVaultObject(written(0xff, 0xff, 0xff, 0x7f))).toThrow(RangeError);
});

it("reads digests of 32 bytes and no others", () => {
  const bytes = encode({ members: 0, former: 0, key: 0 });
  expect(decodeVaultObject(bytes)).toMatchObject({ last: "03".repeat(32), before: "04".repeat(32) });
  const short = bytes.slice(0, -1);
  short[short.length - 32] = 31;
  expect(() => decodeVaultObject(short)).toThrow("A digest has 32 bytes");
});

it("answers anything with a vault or a RangeError", () => {
  const base = encode({ members: 2, former: 2, key: 32 });
  const change = fc.record({ at: fc.nat(base.length - 1), byte: fc.nat(255) });
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 400 }), fc.array(change, { maxLength: 4 })), (input) => {
      const bytes = input instanceof Uint8Array ? input : base.slice();
      if (!(input instanceof Uint8Array)) for (const { at, byte } of input) bytes[at] = byte;
      try {
        decodeVaultObject(bytes);
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
      }
    }),
    { numRuns: FULL ? 20_000 : 300 },
  );
});

it("names the type by the original package", () => {
  expect(vaultObjectType("0x01")).toBe("0x01::vault::Vault");
});

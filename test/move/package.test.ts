import { readFileSync } from "node:fs";
import path from "node:path";
import { decodeVaultObject, NO_END_ON_CHAIN, VAULT_OBJECT_FIELDS, VAULT_OBJECT_LIMITS } from "@coffer/contract";
import { ABORT_CODES, abortName, FUNCTIONS, MODULE, PACKAGE_DIGEST } from "@coffer/chain/package";
import { expect, it } from "vitest";
import { COMPILED_FILE, compilePackage, renderCompiled, testPackage } from "../../dev/scripts/move.ts";

const ROOT = path.join(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(path.join(ROOT, file), "utf8");
const SOURCE = read("packages/chain/move/sources/vault.move");
const TESTS = read("packages/chain/move/tests/vault_tests.move");

it("compiles to the committed bytes and digest [P2]", async () => {
  const compiled = await compilePackage();
  expect(renderCompiled(compiled)).toBe(read(COMPILED_FILE));
  expect(compiled.digest).toBe(PACKAGE_DIGEST);
});

it("passes its unit tests in the Move VM [K2 N7 P3]", async () => {
  const { passed, output } = await testPackage();
  expect(output).toContain("failed: 0");
  expect(passed).toBe(true);
  const written = TESTS.match(/^#\[test[\],]/gm)!.length;
  expect(output).toContain(`Total tests: ${written};`);
});

it("would notice a failing unit test", async () => {
  const { passed, output } = await testPackage(
    "#[test_only] extend module coffer::vault; #[test] fun fails() { assert!(MAX_MEMBERS == 1); }",
  );
  expect(output).toContain("failed: 1");
  expect(passed).toBe(false);
});

it("has a unit test for every abort code, and a name in TypeScript", () => {
  const constants = [...SOURCE.matchAll(/^const (E\w+): u64 = (\d+);/gm)].map(([, name, code]) => [
    name!,
    Number(code),
  ]);
  expect(Object.fromEntries(constants)).toEqual(ABORT_CODES);
  for (const [name, code] of Object.entries(ABORT_CODES)) {
    expect(TESTS).toContain(`expected_failure(abort_code = ${name})`);
    expect(abortName(code)).toBe(name);
    expect(SOURCE.split(name).length, `${name} is used`).toBeGreaterThan(2);
  }
  expect(abortName(0)).toBeNull();
});

it("names every entry function, and the package exports nothing to other packages", () => {
  const entries = [...SOURCE.matchAll(/^entry fun (\w+)/gm)].map(([, name]) => name!);
  expect(entries.sort()).toEqual(Object.values(FUNCTIONS).sort());
  expect(SOURCE).toContain(`module coffer::${MODULE};`);
  expect(SOURCE).not.toMatch(/^public (fun|entry|\(package\))/m);
});

it("holds what the contract says of the object's fields and limits", () => {
  const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const fieldsOf = (struct: string): string[] => {
    const body = new RegExp(`struct ${struct} has [^{]+{([^}]+)}`).exec(SOURCE)![1]!;
    return [...body.matchAll(/^ +(\w+): /gm)].map(([, name]) => camel(name!));
  };
  expect(fieldsOf("Vault")).toEqual(Object.keys(VAULT_OBJECT_FIELDS));
  expect(fieldsOf("Member")).toEqual(Object.keys(VAULT_OBJECT_FIELDS.owner.fields));
  expect(fieldsOf("Former")).toEqual(Object.keys(VAULT_OBJECT_FIELDS.former.list.fields));
  expect(SOURCE).toContain(`MAX_MEMBERS: u64 = ${VAULT_OBJECT_LIMITS.members};`);
  expect(SOURCE).toContain(`MAX_FORMER: u64 = ${VAULT_OBJECT_LIMITS.former};`);
});

it("writes the object as the contract reads it", async () => {
  const hex = (byte: string, count: number): string => byte.repeat(count);
  const u64 = (value: number): string => value.toString(16).padStart(2, "0") + hex("00", 7);
  const address = (byte: string): string => hex("00", 31) + byte;
  const noEnd = hex("ff", 8);
  // A quarter of an hour, little endian.
  const end = "a0bb0d0000000000";
  const bytes = [
    address("01") + u64(4) + u64(1) + u64(4) + "01",
    address("11") + "20" + hex("aa", 32) + u64(1) + noEnd + u64(0) + "00",
    "01" + address("22"),
    "02" + address("22") + "00" + u64(1) + noEnd + u64(0) + "00",
    address("33") + "20" + hex("dd", 32) + u64(3) + end + u64(3) + "01",
    "02" + address("33") + "20" + hex("cc", 32) + u64(1) + u64(1) + noEnd,
    address("33") + "20" + hex("bb", 32) + u64(2) + u64(2) + end,
    u64(0),
    "20" + hex("02", 32),
    "20" + hex("01", 32),
  ].join("");
  const { passed, output } = await testPackage(`
    #[test_only]
    extend module coffer::vault;
    use sui::clock;
    use sui::tx_context::{digest_of, from_transaction};
    #[test]
    fun layout() {
        let mut owner = from_transaction(@0x11, 1);
        let last = digest_of(1);
        let mut v = new(x"${hex("aa", 32)}", true, &mut owner);
        let mut clock = clock::create_for_testing(&mut owner);
        add(&mut v, @0x33, x"${hex("cc", 32)}", NO_END, last, &clock, &owner);
        add(&mut v, @0x22, vector[], NO_END, last, &clock, &owner);
        remove(&mut v, @0x33, &clock, &owner);
        add(&mut v, @0x33, x"${hex("bb", 32)}", 900_000, last, &clock, &owner);
        set_signing_key(&mut v, x"${hex("dd", 32)}", x"${hex("bb", 32)}", &clock, &from_transaction(@0x33, 9));
        offer_ownership(&mut v, @0x22, last, &owner);
        clock.set_for_testing(900_000);
        renew(&mut v, &clock, &from_transaction(@0x11, 2));
        assert!(std::bcs::to_bytes(&v) == x"${bytes}");
        std::unit_test::destroy(v);
        std::unit_test::destroy(clock);
    }`);
  expect(passed, output).toBe(true);
  const long = (byte: string): string => `0x${address(byte)}`;
  const key = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
  const open = { endsAt: NO_END_ON_CHAIN, until: 0n, replacedKeys: 0 };
  expect(decodeVaultObject(Buffer.from(bytes, "hex"))).toEqual({
    id: long("01"),
    generation: 4n,
    floor: 1n,
    base: 4n,
    plainNames: true,
    owner: { chainAddress: long("11"), signingKey: key(0xaa), since: 1n, ...open },
    offered: long("22"),
    members: [
      { chainAddress: long("22"), signingKey: new Uint8Array(), since: 1n, ...open },
      { chainAddress: long("33"), signingKey: key(0xdd), since: 3n, endsAt: 900_000n, until: 3n, replacedKeys: 1 },
    ],
    former: [
      { chainAddress: long("33"), signingKey: key(0xcc), since: 1n, until: 1n, endsAt: NO_END_ON_CHAIN },
      { chainAddress: long("33"), signingKey: key(0xbb), since: 2n, until: 2n, endsAt: 900_000n },
    ],
    oldest: 0n,
    last: "02".repeat(32),
    before: "01".repeat(32),
  });
});

/** What computation costs, by Sui's cost tables: the numbers here are worked out by hand from them. */
import { fromBase64 } from "@mysten/bcs";
import { MODULES } from "@coffer/chain/package";
import { expect, it } from "vitest";
import { bytesOf } from "./costs.ts";
import { OutOfGasError } from "./errors.ts";
import { contextValue, frameworkFor, uid } from "./framework.ts";
import { GasMeter } from "./gas-meter.ts";
import { Machine } from "./machine.ts";
import { readModule } from "./module.ts";
import { asStruct, asVector, bytesValue, integer, type MoveValue } from "./values.ts";

/** The end of a membership that has none. */
const NO_END = (1n << 64n) - 1n;

const module = readModule(fromBase64(MODULES[0]!));
const addressOf = (index: number): string => `0x${index.toString(16).padStart(64, "0")}`;
const reference = (value: MoveValue): MoveValue => ({ kind: "reference", box: [value], at: 0 });

function spent(...charges: [instructions: number, pushes: number, pops: number, bytes: number][]): number {
  const meter = new GasMeter(1e12);
  for (const [instructions, pushes, pops, bytes] of charges) meter.charge(instructions, { pushes, pops, bytes });
  return meter.units;
}

it("costs one unit for each instruction, byte and push, and more for each the more there were", () => {
  expect(spent([1, 1, 0, 8])).toBe(10);
  expect(spent([20_000, 0, 0, 0])).toBe(20_000);
  expect(spent([20_000, 0, 0, 0], [1, 0, 0, 0])).toBe(20_002);
  expect(spent([200_000, 0, 0, 0], [1, 0, 0, 0]) - spent([200_000, 0, 0, 0])).toBe(100);
  expect(spent([0, 0, 0, 100_000], [0, 0, 0, 1])).toBe(100_002);
  expect(spent([0, 0, 0, 1_000_000], [0, 0, 0, 1]) - spent([0, 0, 0, 1_000_000])).toBe(100);
  // Places on the stack are given back; what they cost once stays.
  expect(spent([0, 1_000, 1_000, 0], [0, 1_000, 0, 0])).toBe(2_000);
  expect(spent([0, 1_001, 1_001, 0], [0, 1, 0, 0])).toBe(2_004);
});

it("spends all there is when there is not enough, and reads objects by their bytes", () => {
  const meter = new GasMeter(100);
  meter.chargeRead(1_000);
  expect(meter.units).toBe(15);
  expect(() => meter.charge(86, { pushes: 0, pops: 0, bytes: 0 })).toThrow(OutOfGasError);
  expect(meter.units).toBe(100);
});

it("weighs values as the tables do", () => {
  const member: MoveValue = {
    kind: "struct",
    fields: [addressOf(1), bytesValue(new Uint8Array(32)), integer(64, 1n)],
  };
  expect(bytesOf(integer(8, 1n), false)).toBe(8);
  expect(bytesOf(integer(256, 1n), false)).toBe(32);
  expect(bytesOf(member, false)).toBe(2 + 32 + (2 + 32) + 8);
  expect([false, true].map((follow) => bytesOf(reference(member), follow))).toEqual([8, 84]);
});

/** By the last of so many members, who is at place `at` or thinks so. */
function identitiesWithin(units: number, members: number, at: number): number {
  const run = (gas: GasMeter, name: string, values: MoveValue[]): readonly MoveValue[] => {
    const effects = { freshId: () => addressOf(1), shareObject: () => {}, emitEvent: () => {} };
    const machine = new Machine({ findModule: () => null, callFramework: frameworkFor(effects, gas), gas });
    return machine.run(
      module,
      module.functions.find((called) => called.name === name)!,
      [],
      values,
    );
  };
  const context = (who: number): MoveValue => reference(contextValue(addressOf(who), new Uint8Array(32)));
  const vault = run(new GasMeter(1e9), "new", [bytesValue(new Uint8Array(32)), false, context(9)])[0]!;
  const list = asVector(asStruct(vault).fields[7]!).items;
  for (let place = 0; place < members; place += 1)
    list.push({
      kind: "struct",
      fields: [
        ...[addressOf(100 + place), bytesValue(new Uint8Array(32)), integer(64, 1n)],
        ...[integer(64, NO_END), integer(64, 0n), integer(8, 0n)],
      ],
    });
  const clock = reference({ kind: "struct", fields: [uid(addressOf(6)), integer(64, 1n)] });
  const id = new Uint8Array(64);
  id[31] = id[39] = 1;
  const gas = new GasMeter(units);
  for (let count = 0; ; count += 1)
    try {
      run(gas, "seal_approve", [
        ...[bytesValue(id), reference(vault), integer(64, BigInt(at)), clock],
        context(99 + members),
      ]);
    } catch (error) {
      if (error instanceof OutOfGasError) return count;
      throw error;
    }
}

it("lets a key server's budget pay for fewer identities the more members are searched, and for 90 where the place is known", () => {
  const sizes = [1, 50, 1_000];
  const searching = sizes.map((members) => identitiesWithin(500_000, members, members));
  const hinted = sizes.map((members) => identitiesWithin(500_000, members, members - 1));
  expect({ searching, hinted }).toEqual({ searching: [88, 25, 1], hinted: [90, 90, 90] });
});

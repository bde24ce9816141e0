import type { VaultObject } from "@coffer/chain";
import { NO_END, placeOf, type VaultView } from "@coffer/crypto";
import { expect, it } from "vitest";
import type { VaultRegistry } from "../vault-registry.ts";
import { SeenNumbers } from "./seen-numbers.ts";
import { memoryPins, type PinStore, type VaultPin } from "./pins.ts";

const [FIRST, SECOND] = [1_800_000_000_000n, 1_800_000_900_000n];
const OBJECT = `0x${"5a".repeat(32)}`;
const entry = { address: new Uint8Array(32), signingKey: new Uint8Array(0), since: 1n, endsAt: NO_END };

/** Generation 2, with one membership that ends. */
const viewAt = (time: bigint, endsAt: bigint, until: bigint | null = null): VaultView => ({
  vault: new Uint8Array(32),
  generation: 2n,
  floor: 0n,
  base: 0n,
  time,
  plainNames: false,
  owner: entry,
  members: [{ ...entry, endsAt, until }],
  former: [],
});

function open(pins = memoryPins()) {
  const chain = { network: {}, newestShown: () => null, forgetVault: () => undefined };
  const registry = { chain, pins, clock: () => 0 } as unknown as VaultRegistry;
  return new SeenNumbers(registry, { vaultId: "v", chainObjectId: OBJECT } as VaultPin);
}

const object = { generation: 2n, floor: 0n, plainNames: false } as VaultObject;

it("writes after the latest end that was reached, and never before one that any process was shown", async () => {
  const pins = memoryPins();
  const numbers = open(pins);
  const reached = viewAt(FIRST, FIRST);
  expect(await numbers.writingPlace(viewAt(FIRST - 1n, FIRST))).toEqual({ generation: 2n, after: 0n });
  expect(await numbers.writingPlace(reached)).toEqual({ generation: 2n, after: FIRST });
  await numbers.record({ ...object }, reached);
  // The end was extended on a node that did not see it pass: the place that somebody may have written at stays.
  const extended = viewAt(FIRST + 1n, SECOND);
  expect(placeOf(extended).after).toBe(0n);
  expect(await numbers.writingPlace(extended)).toEqual({ generation: 2n, after: FIRST });
  expect(await open(pins).writingPlace(extended)).toEqual({ generation: 2n, after: FIRST });
  // Marked: the generation after it is another place.
  expect(await numbers.writingPlace({ ...viewAt(SECOND, FIRST, 2n), generation: 3n })).toEqual({
    generation: 3n,
    after: 0n,
  });
});

it("writes after an end that a verified statement names, in every process, once its time has come", async () => {
  const pins = memoryPins();
  const [reader, other] = [open(pins), open(pins)];
  await reader.record({ ...object }, viewAt(FIRST, NO_END));
  reader.recordSigned({ generation: 2n, after: SECOND });
  for (const numbers of [reader, other, open(pins)]) {
    expect(await numbers.writingPlace(viewAt(FIRST, NO_END))).toEqual({ generation: 2n, after: 0n });
    expect(await numbers.writingPlace(viewAt(SECOND, NO_END))).toEqual({ generation: 2n, after: SECOND });
  }
  // A statement makes no generation known: only the chain does.
  reader.recordSigned({ generation: 9n, after: SECOND });
  await reader.writingPlace(viewAt(SECOND, NO_END));
  expect(await pins.loadHighest(OBJECT)).toMatchObject({
    generation: 0n,
    candidates: [{ generation: 2n, after: SECOND }],
  });
});

it("keeps a place that could not be stored until who writes has stored it", async () => {
  const kept = memoryPins();
  let isFull = false;
  const changeHighest: PinStore["changeHighest"] = (id, change) =>
    isFull ? Promise.reject(new Error("no space is left")) : kept.changeHighest(id, change);
  const pins = { ...kept, changeHighest };
  const numbers = open(pins);
  await numbers.record({ ...object }, viewAt(FIRST, NO_END));
  isFull = true;
  numbers.recordSigned({ generation: 2n, after: FIRST });
  await expect(numbers.writingPlace(viewAt(SECOND, NO_END))).rejects.toThrow("no space is left");
  isFull = false;
  expect(await numbers.writingPlace(viewAt(SECOND, NO_END))).toEqual({ generation: 2n, after: FIRST });
  expect(await open(pins).writingPlace(viewAt(SECOND, NO_END))).toEqual({ generation: 2n, after: FIRST });
});

it("stores once what many calls show or have signed at the same time", async () => {
  const kept = memoryPins();
  let changes = 0;
  const changeHighest: PinStore["changeHighest"] = async (id, change) => {
    changes += 1;
    await Promise.resolve();
    return kept.changeHighest(id, change);
  };
  const numbers = open({ ...kept, changeHighest });
  const many = (ask: () => Promise<unknown>) => Promise.all(Array.from({ length: 24 }, ask));
  const shown = { ...object };
  await many(() => numbers.record(shown, viewAt(FIRST, NO_END)));
  expect(changes).toBe(1);
  numbers.recordSigned({ generation: 2n, after: SECOND });
  await many(() => numbers.writingPlace(viewAt(SECOND, NO_END)));
  expect(changes).toBe(2);
  expect(await open(kept).writingPlace(viewAt(SECOND, NO_END))).toEqual({ generation: 2n, after: SECOND });
});

it("stores a place that was signed while an earlier one was on its way to the store", async () => {
  const pins = memoryPins();
  const later: PinStore["changeHighest"] = (id, change) => Promise.resolve().then(() => pins.changeHighest(id, change));
  const numbers = open({ ...pins, changeHighest: later });
  await numbers.record({ ...object }, viewAt(FIRST, NO_END));
  numbers.recordSigned({ generation: 2n, after: FIRST });
  numbers.recordSigned({ generation: 2n, after: SECOND });
  expect(await numbers.writingPlace(viewAt(SECOND, NO_END))).toEqual({ generation: 2n, after: SECOND });
  expect(await open(pins).writingPlace(viewAt(SECOND, NO_END))).toEqual({ generation: 2n, after: SECOND });
});

it("tells each of many calls that a sight could not be stored, and stores the next", async () => {
  const kept = memoryPins();
  let isFull = true;
  const changeHighest: PinStore["changeHighest"] = (id, change) =>
    isFull ? Promise.reject(new Error("no space is left")) : kept.changeHighest(id, change);
  const numbers = open({ ...kept, changeHighest });
  const shown = { ...object };
  const note = () => numbers.record(shown, viewAt(FIRST, NO_END));
  for (const { status } of await Promise.allSettled([note(), note(), note()])) expect(status).toBe("rejected");
  isFull = false;
  await note();
  expect(await kept.loadHighest(OBJECT)).toMatchObject({ candidates: [{ generation: 2n }] });
});

it("reads a candidate again for each write until a statement of its generation was accepted, then once a second", async () => {
  const numbers = open();
  const view = viewAt(FIRST, NO_END);
  let reads = 0;
  const write = () => numbers.requireNewest(view, () => ((reads += 1), Promise.resolve(view)));
  await numbers.record({ ...object }, view);
  for (const expected of [1, 2]) {
    await write();
    expect(reads).toBe(expected);
  }
  // Of another generation: it says nothing of this one.
  numbers.recordSigned({ generation: 1n, after: 0n });
  await write();
  expect(reads).toBe(3);
  numbers.recordSigned(placeOf(view));
  await write();
  await write();
  expect(reads).toBe(3);
  // Another process was shown a later one: nothing is written by what was read before.
  await expect(numbers.requireNewest({ ...view, generation: 3n }, () => Promise.resolve(view))).rejects.toMatchObject({
    code: "generation_moved",
  });
  expect(reads).toBe(3);
});

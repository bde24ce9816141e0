import { ChainError, type Chain, type OwnerActOptions, type VaultAct, type VaultObject } from "@coffer/chain";
import { beforeEach, expect, test } from "vitest";
import { forgetNumbers } from "../trust/seen-numbers.ts";
import { memoryPins, type PinStore } from "../trust/pins.ts";
import type { VaultRegistry } from "../vault-registry.ts";
import { actOnRight, type Right } from "./pending-rights.ts";

const OBJECT = "0x1";
const DAY = 24 * 60 * 60 * 1000;
const ANNA: Right = { of: "member", chainAddress: "0xa" };
const BEN: Right = { of: "member", chainAddress: "0xb" };
const offerTo = (chainAddress: string | null): Right => ({ of: "ownership", chainAddress });

let now = 0;
let pins: PinStore;
/** As the node shows the vault; each act that it executes is the last one. */
let last: string;
let witnessUrls: string[];

beforeEach(() => {
  now = Date.now();
  pins = memoryPins();
  last = "first";
  witnessUrls = [];
});

const registry = (): Pick<VaultRegistry, "chain" | "pins" | "clock"> => ({
  chain: { network: { witnessUrls }, forgetVault: () => undefined } as unknown as Chain,
  pins,
  clock: () => now,
});

const actOf = (outcome: VaultAct["outcome"]): VaultAct => ({
  outcome,
  digest: null,
  warnings: [],
  vault: { last } as VaultObject,
});

/** What the act is told of those before it. */
async function told(right: Right, act: (options: OwnerActOptions) => Promise<VaultAct>): Promise<OwnerActOptions> {
  const seen: OwnerActOptions[] = [];
  await actOnRight(registry(), OBJECT, right, (options) => {
    seen.push(options);
    return act(options);
  }).catch((error: unknown) => {
    if (!(error instanceof ChainError)) throw error;
  });
  return seen[0] ?? {};
}

const give = (right: Right, executedAs: string) =>
  told(right, async (options) => {
    await options.beforeGiving?.(options.last ?? last);
    last = executedAs;
    return actOf("done");
  });
const giveInVain = (right: Right) =>
  told(right, async (options) => {
    await options.beforeGiving?.(options.last ?? last);
    throw new ChainError("transaction_unknown");
  });
const take = (right: Right, executedAs: string) =>
  told(right, () => Promise.resolve(((last = executedAs), actOf("done"))));
const look = (right: Right) => told(right, () => Promise.resolve(actOf("already")));
const kept = async () => (await pins.loadHighest(OBJECT)).given ?? [];

test("N7: a right is noted before its transaction is sent, also when nobody answers", async () => {
  await actOnRight(registry(), OBJECT, ANNA, async (options) => {
    await options.beforeGiving?.("first");
    expect(await kept()).toEqual([{ of: "member", chainAddress: "0xa", last: "first", since: now, isAnswered: false }]);
    return actOf("done");
  });
  expect(await kept()).toMatchObject([{ isAnswered: true }]);
});

test("N7: whoever takes a right away is told what gave it, of that address and of no other", async () => {
  await giveInVain(ANNA);
  expect((await look(ANNA)).earlierGrants).toEqual(["first"]);
  expect((await look(BEN)).earlierGrants).toEqual([]);
  expect((await look(offerTo(null))).earlierGrants).toEqual([]);
  await giveInVain(offerTo("0xb"));
  expect((await look(offerTo(null))).earlierGrants).toEqual(["first"]);
  // Who is removed loses an offer as well.
  expect((await look(BEN)).earlierGrants).toEqual(["first"]);
});

test("N7: one node's word ends it never, three days of this machine's clock do", async () => {
  await give(ANNA, "second");
  await take(ANNA, "third");
  expect((await look(ANNA)).earlierGrants).toEqual(["first"]);
  now += 3 * DAY - 1;
  expect((await look(ANNA)).earlierGrants).toEqual(["first"]);
  now += 1;
  expect((await look(ANNA)).earlierGrants).toEqual([]);
  expect(await kept()).toEqual([]);
});

test("N7: a witness ends it once it shows another last act", async () => {
  await giveInVain(ANNA);
  witnessUrls = ["https://witness.example"];
  await look(BEN);
  expect(await kept()).toHaveLength(1);
  await take(ANNA, "second");
  expect(await kept()).toEqual([]);
});

test("N7: a retry names the same act, whatever the node shows, until a later act or a refusal", async () => {
  await giveInVain(ANNA);
  last = "made up";
  expect((await giveInVain(ANNA)).last).toBe("first");
  // Another right does not take its place.
  expect((await giveInVain(BEN)).last).toBeUndefined();
  await giveInVain(offerTo("0xa"));
  expect((await giveInVain(offerTo("0xb"))).last).toBe("made up");
  await told(ANNA, () => Promise.reject(new ChainError("act_outdated")));
  expect((await look(ANNA)).last).toBeUndefined();
  expect((await look(BEN)).last).toBe("made up");
  await take(BEN, "second");
  expect((await look(BEN)).last).toBeUndefined();
  // All of them may still be executed.
  expect((await look(ANNA)).earlierGrants).toEqual(["first", "first", "made up"]);
});

test("N7: who heals a node's lies does not forget what was given", async () => {
  await giveInVain(ANNA);
  await forgetNumbers(registry() as VaultRegistry, OBJECT);
  expect(await kept()).toHaveLength(1);
});

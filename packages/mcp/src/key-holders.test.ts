import type { Client } from "@coffer/sdk";
import { expect, it } from "vitest";
import { KeyHolders } from "./key-holders.ts";

/** A service that accepts `good`, and counts how often it was asked about each key. */
function serviceOf(asked: string[]): (key: string) => Client {
  return (key) => {
    const get = (): Promise<unknown> => {
      asked.push(key);
      if (key === "away") return Promise.reject(Object.assign(new Error("x"), { code: "timeout", nextStep: "" }));
      if (!isGood(key))
        return Promise.reject(Object.assign(new Error("x"), { code: "invalid_credential", nextStep: "" }));
      return Promise.resolve({ credential: { kind: "api-key", id: "k1" } });
    };
    return { account: { get } } as unknown as Client;
  };
}

it("the service is asked once about a key, also by calls at once, and again when its trust has ended", async () => {
  const asked: string[] = [];
  let now = 0;
  const keys = new KeyHolders({ clientFor: serviceOf(asked), now: () => now });
  const found = await Promise.all(Array.from({ length: 20 }, () => keys.find("good")));
  expect([asked.length, new Set(found).size]).toEqual([1, 1]);
  now += 5 * 60_000;
  const later = await keys.find("good");
  expect(asked).toHaveLength(2);
  // Its confirmations, transfers and what was read go on.
  const holderOf = (each: typeof later) => (each.kind === "holder" ? each.holder.credentialState : null);
  expect(holderOf(later)).toBe(holderOf(found[0] ?? later));
});

it("a refused key is not asked about again at once, one of a silent service is", async () => {
  const asked: string[] = [];
  let now = 0;
  const keys = new KeyHolders({ clientFor: serviceOf(asked), now: () => now });
  for (let each = 0; each < 5; each += 1) expect((await keys.find("bad")).kind).toBe("refused");
  expect(asked).toHaveLength(1);
  now += 30_001;
  await keys.find("bad");
  for (let each = 0; each < 2; each += 1) expect((await keys.find("away")).kind).toBe("unreachable");
  expect(asked).toEqual(["bad", "bad", "away", "away"]);
});

/** Keys that the service knows, as many as a test needs. */
const isGood = (key: string): boolean => key.startsWith("good");

it("made-up keys push out one another and no key that the service accepted [T6]", async () => {
  const limits = { atOnce: 2, perMinute: 3 };
  const keys = new KeyHolders({ clientFor: serviceOf([]), limits, now: () => 0 });
  const holder = await holderOf(keys, "good");
  for (let each = 0; each < 3; each += 1) {
    expect(holder.acquire()).toBeNull();
    holder.release();
  }
  for (let each = 0; each < 3_000; each += 1) expect((await keys.find(`bad ${String(each)}`)).kind).toBe("refused");
  const again = await holderOf(keys, "good");
  expect(again).toBe(holder);
  // Its limits go on, and with its memory what was shown to it.
  expect(again.acquire()).toBe(60);
});

it("a key is the same holder after the service was away, or refused it for a while", async () => {
  let now = 0;
  const state = { answer: "good" };
  const get = () => serviceOf([])(state.answer).account.get();
  const keys = new KeyHolders({ clientFor: () => ({ account: { get } }) as unknown as Client, now: () => now });
  const holder = await holderOf(keys, "any");
  for (const answer of ["away", "bad"]) {
    now += 5 * 60_000;
    state.answer = answer;
    expect((await keys.find("any")).kind).not.toBe("holder");
    now += 30_001;
    state.answer = "good";
    expect(await holderOf(keys, "any")).toBe(holder);
  }
});

it("only idle holders go when there are too many; one that is made again is tainted [T6]", async () => {
  let now = 0;
  const keys = new KeyHolders({ clientFor: serviceOf([]), mostHolders: 3, now: () => now });
  const [connected, busy, idle] = [
    await holderOf(keys, "good 1"),
    await holderOf(keys, "good 2"),
    await holderOf(keys, "good 3"),
  ];
  connected.connections = 1;
  busy.requests = 1;
  expect((await keys.find("good 4")).kind).toBe("full");
  now += 30 * 60_000 + 1;
  expect((await keys.find("good 4")).kind).toBe("holder");
  expect(await holderOf(keys, "good 1")).toBe(connected);
  expect(await holderOf(keys, "good 2")).toBe(busy);
  now += 30 * 60_000 + 1;
  const again = await holderOf(keys, "good 3");
  expect(again).not.toBe(idle);
  expect(again.credentialState.taint.isTainted).toBe(true);
});

async function holderOf(keys: KeyHolders, key: string) {
  const found = await keys.find(key);
  if (found.kind !== "holder") throw new Error(`${key} is ${found.kind}`);
  return found.holder;
}

it("a key has so many calls at once, and so many a minute", async () => {
  let now = 0;
  const limits = { atOnce: 2, perMinute: 5 };
  const keys = new KeyHolders({ clientFor: serviceOf([]), limits, now: () => now });
  const found = await keys.find("good");
  if (found.kind !== "holder") throw new Error("the key is good");
  const { holder } = found;
  expect([holder.acquire(), holder.acquire(), holder.acquire()]).toEqual([null, null, 1]);
  for (let each = 0; each < 3; each += 1) {
    holder.release();
    expect(holder.acquire()).toBeNull();
  }
  holder.release();
  now += 20_000;
  expect(holder.acquire()).toBe(40);
  now += 40_000;
  expect(holder.acquire()).toBeNull();
});

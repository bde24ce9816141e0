import { afterAll, expect, it } from "vitest";
import { createDatabase } from "../../../../test/kit/postgres/databases.ts";
import type { Policy } from "../../limits/policies.ts";
import { openDatabase } from "../../storage.ts";
import { removeFull, takeShared } from "./store.ts";

const place = await createDatabase("migrated");
const config = { kind: "postgres", url: place.url, directUrl: null, connections: 10, sessions: true } as const;
const [one, other] = [await openDatabase({ database: config }), await openDatabase({ database: config })];
afterAll(async () => {
  for (const each of [one, other, place]) await each[Symbol.asyncDispose]();
});

const LOGIN: Policy = { name: "login", quota: 10, window: 3_600, burst: 10 };

it("of 25 requests at two processes at once ten are let through, for each key", async () => {
  for (const key of ["a", "b"]) {
    const asked = Array.from({ length: 25 }, (_, index) => takeShared(index % 2 === 0 ? one : other, LOGIN, key));
    const taken = await Promise.all(asked);
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(10);
    expect(taken.flatMap(({ allowed, left }) => (allowed ? [left] : [])).toSorted((x, y) => x - y)).toEqual(
      Array.from({ length: 10 }, (_, index) => index),
    );
    const refused = taken.find(({ allowed }) => !allowed);
    expect(refused?.wait).toBeGreaterThan(300_000);
    expect(refused?.wait).toBeLessThanOrEqual(360_000);
  }
});

it("a bucket fills up again, whose row goes then", async () => {
  const fast: Policy = { name: "general", quota: 1_000, window: 1, burst: 2 };
  expect([await takeShared(one, fast, "k"), await takeShared(other, fast, "k")].map(({ allowed }) => allowed)).toEqual([
    true,
    true,
  ]);
  await expect.poll(async () => (await takeShared(one, fast, "k")).allowed).toBe(true);
  await expect.poll(() => removeFull(one)).toBeGreaterThan(0);
  const keys = await one.all(one.build.selectFrom("rates").select("key"));
  expect(keys.map(({ key }) => key).sort()).toEqual(["login a", "login b"]);
});

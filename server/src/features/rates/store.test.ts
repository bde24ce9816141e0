import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, expect, it } from "vitest";
import { createDatabase } from "../../../../test/kit/postgres/databases.ts";
import { parseConfig } from "../../config.ts";
import { createLimits } from "../../limits/limits.ts";
import type { Policy } from "../../limits/policies.ts";
import { systemClock } from "../../ports/clock.ts";
import { ServiceError } from "../../service-error.ts";
import { openDatabase } from "../../storage.ts";
import { removeFull, sharedRates } from "./store.ts";

const place = await createDatabase("migrated");
const config = { kind: "postgres", url: place.url, directUrl: null, connections: 10, sessions: true } as const;
const [one, other] = [await openDatabase({ database: config }), await openDatabase({ database: config })];
afterAll(async () => {
  for (const each of [one, other, place]) await each[Symbol.asyncDispose]();
});

const LOGIN: Policy = { name: "login", quota: 10, window: 3_600, burst: 10 };

it("of 25 requests at two processes at once ten are let through, for each key", async () => {
  for (const key of ["a", "b"]) {
    const asked = Array.from({ length: 25 }, (_, index) =>
      sharedRates(index % 2 === 0 ? one : other).consume(LOGIN, key),
    );
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

it("requests of a key with a budget count for all processes, of each of its budgets or of none", async () => {
  const opened = [one, other].map((database) =>
    createLimits(parseConfig({ SERVICE_ENV: "development" }).settings.rates, systemClock, {
      shared: sharedRates(database),
    }),
  );
  const [own, maker] = [
    { id: randomUUID(), limits: { requestsPerMinute: 20 } },
    { id: randomUUID(), limits: { requestsPerMinute: 6 } },
  ];
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => opened[index % 2]?.consumeRequest([own, maker])).map((taking) =>
      taking.then(
        () => "taken",
        (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
      ),
    ),
  );
  expect(outcomes.filter((outcome) => outcome === "taken")).toHaveLength(6);
  expect(outcomes.filter((outcome) => outcome === "budget_exceeded")).toHaveLength(14);
  for (const limits of opened) {
    const asked = [
      { id: maker.id, limit: 6 },
      { id: own.id, limit: 20 },
    ];
    const [ofMaker, ofKey] = await limits.requestsLeft(asked);
    // One more comes back every 10 and every 3 seconds.
    expect(ofMaker?.left).toBeLessThan(3);
    expect(ofKey?.left).toBeGreaterThanOrEqual(14);
  }
});

it("a bucket fills up again, whose row goes then", async () => {
  const fast: Policy = { name: "general", quota: 1_000, window: 1, burst: 2 };
  expect(
    [await sharedRates(one).consume(fast, "k"), await sharedRates(other).consume(fast, "k")].map(
      ({ allowed }) => allowed,
    ),
  ).toEqual([true, true]);
  await expect.poll(async () => (await sharedRates(one).consume(fast, "k")).allowed).toBe(true);
  await expect.poll(() => removeFull(one)).toBeGreaterThan(0);
  const keys = await one.all(one.build.selectFrom("rates").select("key"));
  expect(
    keys
      .map(({ key }) => key)
      .filter((key) => /^(general|login)/.test(key))
      .sort(),
  ).toEqual(["login a", "login b"]);
});

it("what has happened counts beyond the bucket too, in one statement for many keys and from both processes", async () => {
  const [c, d] = [randomUUID(), randomUUID()];
  const spend = (database: typeof one, ...counts: [string, number][]) =>
    sharedRates(database).spend(LOGIN, new Map(counts));
  await Promise.all([spend(one, [c, 4], [d, 12]), spend(other, [d, 1], [c, 3])]);
  const left = await spend(one, [d, 1], [c, 1]);
  expect([c, d].map((key) => Math.floor(left.get(key) ?? 0))).toEqual([2, -4]);
  expect(await spend(one)).toEqual(new Map());
});

it("what was counted while the clock of the database was ahead counts for nothing", async () => {
  const rates = sharedRates(one);
  const takeAll = () => Promise.all(Array.from({ length: 11 }, () => rates.consume(LOGIN, "ahead")));
  const allowed = (taken: Awaited<ReturnType<typeof takeAll>>) => taken.filter((each) => each.allowed).length;
  expect(allowed(await takeAll())).toBe(10);
  const twoDays = sql`update rates set full_at = full_at + 172800000000 where key = 'login ahead'`;
  await one.run({ compile: () => twoDays.compile(one.build) });
  expect(await rates.peek([[LOGIN, "ahead"]])).toMatchObject([{ left: 10 }]);
  expect(allowed(await takeAll())).toBe(10);
  for (let days = 0; days < 10; days += 2) await one.run({ compile: () => twoDays.compile(one.build) });
  expect((await rates.spend(LOGIN, new Map([["ahead", 4]]))).get("ahead")).toBeCloseTo(6, 1);
});

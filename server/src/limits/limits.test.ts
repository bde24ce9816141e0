import { describe, expect, it } from "vitest";
import { ServiceError } from "../service-error.ts";
import type { RateSettings } from "../config.ts";
import { type Bucket, createLimits, type Limits, type Quota } from "./limits.ts";

/** Decisions §2. */
const RATES: RateSettings = {
  mail: 5,
  mailAddress: 3,
  login: 10,
  signInFailures: 5,
  signup: 10,
  idp: 30,
  anonymous: 60,
  refresh: 30,
  general: 6000,
  generalBurst: 1000,
  webhookTest: 10,
};
const MINUTE = 60_000;
const HOUR = 3_600_000;

/** One process that counts for itself answers at once. */
interface LimitsOfOne extends Limits {
  consume(bucket: Bucket, key: string): Quota;
  tryTake(bucket: Bucket, key: string): boolean;
}

function openLimits(rates: Partial<RateSettings> = {}, capacity?: number) {
  const clock = { now: 12_345.678 };
  const limits = createLimits(
    { ...RATES, ...rates },
    { elapsed: () => clock.now },
    capacity === undefined ? {} : { capacity },
  );
  return { limits: limits as LimitsOfOne, clock };
}

/** "taken", or the refusal's headers. */
function outcomeOf(act: () => unknown): "taken" | Readonly<Record<string, string>> {
  try {
    act();
    return "taken";
  } catch (error) {
    if (error instanceof ServiceError && error.code === "rate_limited") return error.headers;
    throw error;
  }
}

function takeMany(limits: Limits, bucket: Bucket, key: string, count: number): number {
  return Array.from({ length: count }, () => limits.tryTake(bucket, key)).filter(Boolean).length;
}

describe("a bucket", () => {
  it.each([
    ["mail", 5, 15 * MINUTE],
    ["mailAddress", 3, HOUR],
    ["login", 10, MINUTE],
    ["signup", 10, MINUTE],
    ["idp", 30, MINUTE],
    ["anonymous", 60, MINUTE],
    ["refresh", 30, MINUTE],
  ] as const)(
    "%s gives exactly %i at once, one more at the edge of its interval, and is full after its window [D2-mail-operations D2-login D2-signup D2-idp D2-refresh]",
    (bucket, quota, window) => {
      const { limits, clock } = openLimits();
      expect(takeMany(limits, bucket, "one", quota + 15)).toBe(quota);
      expect(takeMany(limits, bucket, "another", 1)).toBe(1);
      const interval = window / quota;
      clock.now += interval - 1 - interval * 0.001;
      expect(limits.tryTake(bucket, "one")).toBe(false);
      clock.now += 1 + interval * 0.001;
      expect(takeMany(limits, bucket, "one", 5)).toBe(1);
      clock.now += window;
      expect(takeMany(limits, bucket, "one", quota + 15)).toBe(quota);
    },
  );

  it("general gives 1,000 at once and 6,000 a minute [D2-general]", () => {
    const { limits, clock } = openLimits();
    expect(takeMany(limits, "general", "key", 1500)).toBe(1000);
    let taken = 0;
    for (let second = 0; second < 60; second += 1) {
      clock.now += 1000;
      taken += takeMany(limits, "general", "key", 200);
    }
    expect(taken).toBe(6000);
  });

  it("is exact for quotas whose interval is no whole number", () => {
    for (const login of [1, 3, 7, 11, 13, 999]) {
      const { limits, clock } = openLimits({ login });
      clock.now = 987_654_321.123;
      expect(takeMany(limits, "login", "k", login * 2)).toBe(login);
    }
  });

  it("never gives more at once than its quota, whatever the burst says", () => {
    const { limits } = openLimits({ general: 10, generalBurst: 1000 });
    expect(takeMany(limits, "general", "key", 50)).toBe(10);
  });

  it("lets in who waited as long as Retry-After says, and not who did not [D1-rate-limited]", () => {
    const { limits, clock } = openLimits();
    takeMany(limits, "login", "k", 10);
    clock.now += 2_500;
    const refused = outcomeOf(() => limits.consume("login", "k"));
    expect(refused).toEqual({
      "Retry-After": "4",
      "RateLimit-Policy": '"login";q=10;w=60',
      RateLimit: '"login";r=0;t=4',
    });
    clock.now += 3_400;
    expect(outcomeOf(() => limits.consume("login", "k"))).not.toBe("taken");
    clock.now += 600;
    expect(outcomeOf(() => limits.consume("login", "k"))).toBe("taken");
  });

  it("says what is left, in structured fields of draft-ietf-httpapi-ratelimit-headers-11 [D1-rate-limited]", () => {
    const { limits, clock } = openLimits();
    expect(limits.consume("login", "k")).toEqual({ policy: '"login";q=10;w=60', state: '"login";r=9;t=6' });
    clock.now += 1_000;
    expect(limits.consume("login", "k").state).toBe('"login";r=8;t=5');
    clock.now += HOUR;
    expect(limits.consume("login", "k").state).toBe('"login";r=9;t=6');
    expect(limits.consume("general", "k")).toEqual({
      policy: '"general";q=6000;w=60;coffer-burst=1000',
      state: '"general";r=999;t=1',
    });
  });

  it("costs a refused request nothing", () => {
    const { limits, clock } = openLimits();
    takeMany(limits, "login", "k", 1000);
    clock.now += 6_000;
    expect(takeMany(limits, "login", "k", 10)).toBe(1);
  });

  it("takes keys of any length apart", () => {
    const { limits } = openLimits({ mailAddress: 1 });
    const long = "x".repeat(250);
    expect([`${long}a`, `${long}b`, `${long}a`].map((key) => limits.tryTake("mailAddress", key))).toEqual([
      true,
      true,
      false,
    ]);
  });

  it("goes on refusing who used it up, however many other keys come by in between", () => {
    const { limits } = openLimits({}, 100);
    takeMany(limits, "login", "attacker", 10);
    for (let turn = 0; turn < 10_000; turn += 1) limits.tryTake("login", `address-${turn}`);
    expect(limits.tryTake("login", "attacker")).toBe(false);
  });
});

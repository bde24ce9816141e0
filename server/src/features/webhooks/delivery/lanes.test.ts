import { describe, expect, it } from "vitest";
import { FAILURES_TO_BREAK, Lanes } from "./lanes.ts";

const START = Date.UTC(2026, 10, 20);
const success = { failure: null, retryAfter: null } as const;
const failure = { failure: "timeout", retryAfter: null } as const;

function open(settings: Partial<{ concurrency: number; endpointConcurrency: number; endpointRate: number }> = {}) {
  const time = { now: START, elapsed: 0 };
  const clock = { now: () => time.now, elapsed: () => time.elapsed };
  const lanes = new Lanes({ concurrency: 64, endpointConcurrency: 8, endpointRate: 20, ...settings }, clock);
  /** Claims everything that is wanted, and says that more is due. */
  const begin = (): Record<string, number> => {
    const wanted = lanes.claimable();
    for (const { webhookId, limit } of wanted) lanes.start(webhookId, limit, time.now);
    return Object.fromEntries(wanted.map(({ webhookId, limit }) => [webhookId, limit]));
  };
  const end = (webhookId: string, times: number, outcome: typeof success | typeof failure = success): void => {
    for (let count = 0; count < times; count += 1) lanes.end(webhookId, outcome);
  };
  return { lanes, time, begin, end };
}

describe("a lane", () => {
  it("opens with two attempts at once, and has one more for each good answer, up to its limit", () => {
    const { lanes, begin, end, time } = open({ endpointRate: 1000 });
    lanes.setDue("a", START);
    expect(begin()).toEqual({ a: 2 });
    expect(begin()).toEqual({});
    end("a", 2);
    expect(begin()).toEqual({ a: 4 });
    end("a", 4);
    time.elapsed += 1000;
    expect(begin()).toEqual({ a: 8 });
  });

  it("begins no more than its rate in a second, whatever is done to the clock", () => {
    const { lanes, begin, end, time } = open({ endpointRate: 10 });
    lanes.setDue("a", START);
    let begun = 0;
    const turn = (): void => {
      const count = begin()["a"] ?? 0;
      begun += count;
      end("a", count);
    };
    for (let turns = 0; turns < 100; turns += 1) turn();
    expect(begun).toBe(10);
    time.now += 365 * 86_400_000;
    for (let turns = 0; turns < 100; turns += 1) turn();
    expect(begun).toBe(10);
    time.elapsed += 500;
    for (let turns = 0; turns < 100; turns += 1) turn();
    expect(begun).toBe(15);
  });

  it("of which others have all that is due is left to them for a while, and asked for at once when more becomes due", () => {
    const { lanes, time, begin } = open();
    lanes.setDue("a", START);
    const inVain = (): void => {
      expect(lanes.claimable()).toMatchObject([{ webhookId: "a" }]);
      lanes.start("a", 0, time.now);
    };
    inVain();
    time.elapsed += 99;
    expect(begin()).toEqual({});
    lanes.setDue("a", START);
    expect(begin()).toEqual({});
    lanes.add("a", START);
    inVain();
    expect(begin()).toEqual({});
    time.elapsed += 100;
    expect(begin()).toEqual({ a: 2 });
  });

  it("with attempts of its own under way is asked for at every turn, whatever others have", () => {
    const { lanes, time, begin, end } = open();
    lanes.setDue("a", START);
    expect(begin()).toEqual({ a: 2 });
    end("a", 1);
    lanes.start("a", 0, time.now);
    expect(begin()).toEqual({ a: 2 });
  });

  it("that keeps failing gets one attempt at a time, until one succeeds", () => {
    const { lanes, begin, end, time } = open({ endpointRate: 1000 });
    lanes.setDue("a", START);
    for (let failures = 0; failures < FAILURES_TO_BREAK;) {
      const count = begin()["a"] ?? 0;
      end("a", count, failure);
      failures += count;
    }
    expect(begin()).toEqual({ a: 1 });
    expect(begin()).toEqual({});
    end("a", 1, failure);
    expect(begin()).toEqual({ a: 1 });
    end("a", 1);
    time.elapsed += 1000;
    expect(begin()).toEqual({ a: 3 });
  });

  it("whose receiver asks for patience rests", () => {
    const { lanes, begin, time } = open();
    lanes.setDue("a", START);
    begin();
    lanes.end("a", { failure: "HTTP 429", retryAfter: 30_000 });
    time.elapsed += 29_999;
    expect(begin()).toEqual({});
    time.elapsed += 1;
    expect(begin()).toEqual({ a: 1 });
  });

  it("has what is due, and what was due before the clock was set back, and nothing else", () => {
    const { lanes, begin, time } = open();
    lanes.setDue("later", START + 1);
    expect(begin()).toEqual({});
    time.now += 1;
    expect(Object.keys(begin())).toEqual(["later"]);
    lanes.setDue("ahead", START + 30 * 86_400_000);
    expect(lanes.claimable()).toMatchObject([{ webhookId: "ahead", dueBy: Number.MAX_SAFE_INTEGER }]);
  });
});

describe("lanes together", () => {
  it("take turns: none is left out for long, however much waits in the others", () => {
    const { lanes, begin, end, time } = open({ concurrency: 4, endpointRate: 1000 });
    const names = Array.from({ length: 20 }, (_, at) => `lane ${at}`);
    for (const name of names) lanes.setDue(name, START);
    const served = new Map<string, number>();
    for (let turn = 0; turn < 200; turn += 1) {
      time.elapsed += 100;
      for (const [name, count] of Object.entries(begin())) {
        served.set(name, (served.get(name) ?? 0) + count);
        end(name, count);
      }
    }
    const counts = names.map((name) => served.get(name) ?? 0);
    expect(Math.min(...counts)).toBeGreaterThan(0);
    expect(Math.max(...counts)).toBeLessThanOrEqual(Math.min(...counts) * 2);
  });

  it("that never answered well have half of all attempts at most: a hundred dead ones stop nobody", () => {
    const { lanes, begin, end, time } = open({ concurrency: 8 });
    lanes.setDue("good", START);
    const first = begin()["good"] ?? 0;
    end("good", first);
    for (let at = 0; at < 100; at += 1) lanes.setDue(`dead ${at}`, START);
    lanes.setDue("good", null);
    const dead = begin();
    expect(Object.values(dead).reduce((sum, count) => sum + count, 0)).toBe(4);
    lanes.setDue("good", START);
    for (let turn = 0; turn < 50; turn += 1) {
      time.elapsed += 1000;
      const begun = begin();
      expect(Object.keys(begun)).toEqual(["good"]);
      end("good", begun["good"] ?? 0);
    }
    expect(lanes.inFlight).toBe(4);
  });

  it("never exceed what may be in flight altogether", () => {
    const { lanes, begin } = open({ concurrency: 10 });
    for (let at = 0; at < 50; at += 1) lanes.setDue(`lane ${at}`, START);
    for (let turn = 0; turn < 10; turn += 1) begin();
    expect(lanes.inFlight).toBeLessThanOrEqual(10);
  });

  it("are forgotten when nothing waits, so that memory is held by what is due and by what fails", () => {
    const { lanes, begin, end, time } = open({ concurrency: 10_000 });
    for (let at = 0; at < 1000; at += 1) lanes.setDue(`lane ${at}`, START);
    for (const [name, count] of Object.entries(begin())) {
      end(name, count, name === "lane 7" ? failure : success);
      lanes.setDue(name, null);
    }
    expect(lanes.size).toBe(1000);
    time.elapsed += 60_000;
    lanes.evictIdle();
    expect(lanes.size).toBe(1);
  });

  it("that failed are forgotten an hour after their last attempt: endpoints that are deleted leave nothing behind", () => {
    const { lanes, begin, end, time } = open();
    lanes.setDue("gone", START);
    for (const [name, count] of Object.entries(begin())) end(name, count, failure);
    lanes.setDue("gone", null);
    time.elapsed += 60 * 60_000 - 1;
    lanes.evictIdle();
    expect(lanes.size).toBe(1);
    time.elapsed += 1;
    lanes.evictIdle();
    expect(lanes.size).toBe(0);
  });
});

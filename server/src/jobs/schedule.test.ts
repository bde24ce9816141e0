import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Lease } from "../ports/leases.ts";
import { LeaseLostError } from "./fenced-database.ts";
import { schedule } from "./schedule.ts";

const failures: unknown[] = [];
const log = {
  info: () => undefined,
  error: (fields: Readonly<Record<string, unknown>>) => void failures.push(fields["job"]),
};
let lost: AbortController;
let isFree: boolean;
let releases: number;
const acquire = (): Promise<Lease | null> => {
  const renew = () => Promise.resolve(true);
  const release = () => Promise.resolve((releases += 1) > 0);
  const isHeldIn = renew;
  const lease = { fence: 1, takenOver: false, signal: lost.signal, renew, isHeldIn, release, abandon: () => undefined };
  return Promise.resolve(isFree ? lease : null);
};
const scheduling = { log, leases: { acquire } };

beforeEach(() => {
  vi.useFakeTimers();
  failures.length = 0;
  [lost, isFree, releases] = [new AbortController(), true, 0];
});
afterEach(() => {
  vi.useRealTimers();
});

describe("scheduled jobs", () => {
  it("run at once, then again after their pause", async () => {
    let runs = 0;
    const stop = schedule(
      () => [{ name: "counting", pause: 1000, run: () => Promise.resolve({ runs: (runs += 1) }) }],
      scheduling,
    );
    await vi.advanceTimersByTimeAsync(0);
    expect(runs).toBe(1);
    await vi.advanceTimersByTimeAsync(3500);
    expect(runs).toBe(4);
    await stop();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(runs).toBe(4);
  });

  it("never overlap, however long a run takes", async () => {
    let inside = 0;
    let most = 0;
    const slow = {
      name: "slow",
      pause: 10,
      run: async () => {
        inside += 1;
        most = Math.max(most, inside);
        await new Promise((resolve) => void setTimeout(resolve, 5000));
        inside -= 1;
        return {};
      },
    };
    const stop = schedule(() => [slow], scheduling);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(most).toBe(1);
    const stopped = stop();
    await vi.advanceTimersByTimeAsync(5000);
    await stopped;
    expect(inside).toBe(0);
  });

  it("log a failure, go on with the others and come back", async () => {
    let others = 0;
    const jobs = [
      { name: "failing", pause: 1000, run: () => Promise.reject(new Error("broken")) },
      { name: "other", pause: 1000, run: () => Promise.resolve({ others: (others += 1) }) },
    ];
    const stop = schedule(() => jobs, scheduling);
    await vi.advanceTimersByTimeAsync(1500);
    expect(failures).toEqual(["failing", "failing"]);
    expect(others).toBe(2);
    await stop();
  });

  it("end without a complaint when another process has their lease by now", async () => {
    const lines: string[] = [];
    const told = { info: (_: unknown, message: string) => void lines.push(message), error: log.error };
    const fencedOff = { name: "late", pause: 1000, run: () => Promise.reject(new LeaseLostError("taken")) };
    const stop = schedule(() => [fencedOff], { ...scheduling, log: told });
    await vi.advanceTimersByTimeAsync(0);
    await stop();
    expect(failures).toEqual([]);
    expect(lines).toContain("ended: another process runs the jobs by now");
  });

  it("are told to end early when they are stopped", async () => {
    let told = false;
    const waiting = {
      name: "waiting",
      pause: 1000,
      run: (signal: AbortSignal) =>
        new Promise<Record<string, number>>((resolve) => {
          signal.addEventListener("abort", () => {
            told = true;
            resolve({});
          });
        }),
    };
    const stop = schedule(() => [waiting], scheduling);
    await vi.advanceTimersByTimeAsync(0);
    await stop();
    expect(told).toBe(true);
  });

  it("run only under their lease: asked for again while another process has it, and when it is lost", async () => {
    let runs = 0;
    isFree = false;
    const counting = { name: "counting", pause: 1000, run: () => Promise.resolve({ runs: (runs += 1) }) };
    const stop = schedule(() => [counting], scheduling);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(runs).toBe(0);
    isFree = true;
    await vi.advanceTimersByTimeAsync(10_000);
    const before = runs;
    expect(before).toBeGreaterThan(4);
    isFree = false;
    lost.abort();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(runs).toBe(before);
    [lost, isFree] = [new AbortController(), true];
    await vi.advanceTimersByTimeAsync(10_000);
    expect(runs).toBeGreaterThan(before);
    await stop();
    expect(releases).toBe(2);
  });
});

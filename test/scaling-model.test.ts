/** The queueing model of docs/scaling.md against what queueing theory knows of simple cases. */
import { expect, it } from "vitest";
import { type Costs, simulate } from "../bench/scaling/model.ts";

const READS: Costs = { node: { read: 1, write: 0 }, database: { read: 1e-6, write: 0 }, flush: 1 };
const READ = { writes: 0, accounts: 1, processes: 1, cores: 1, requests: 60_000 };

it("waits as one server with one line does: half are answered within ln 2 of the mean time, 99 of 100 within ln 100", () => {
  for (const load of [0.2, 0.5, 0.8]) {
    const { half, most, busy } = simulate(READS, { ...READ, rate: load * 1000 });
    const mean = 1 / (1 - load);
    expect(half / (mean * Math.LN2)).toBeCloseTo(1, 1);
    expect(Math.abs(most / (mean * Math.log(100)) - 1)).toBeLessThan(0.15);
    expect(busy.processes).toBeCloseTo(load, 1);
  }
});

it("lets the log write for many at once, and one account only one after the other", () => {
  const costs: Costs = { node: { read: 0, write: 1e-6 }, database: { read: 0, write: 1e-6 }, flush: 2 };
  const writes = { ...READ, writes: 1, cores: 8, requests: 20_000 };
  expect(simulate(costs, { ...writes, accounts: 1_000_000, rate: 10_000 }).most).toBeLessThan(6);
  expect(simulate(costs, { ...writes, accounts: 1, rate: 400 }).most).toBeLessThan(50);
  expect(simulate(costs, { ...writes, accounts: 1, rate: 600 }).most).toBeGreaterThan(500);
});

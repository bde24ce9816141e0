/** Five server processes on one data directory, killed again and again while 50 accounts are written to (docs/decisions/0031-leases.md). */
import { expect, it } from "vitest";
import { openFleet } from "./accounts/fleet.ts";
import { inspectAll, runSchedule } from "./accounts/schedules.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
const PROCESSES = 5;
/** In the full counts another one every day; what everybody runs does not depend on the day. */
const SEED = FULL ? Math.floor(Date.now() / 86_400_000) * 1000 : 1;
/** How long the writes and kills of all accounts go on, in seconds. */
const SECONDS = FULL ? 30 : 3;
/** Schedules of 5 seconds; those of a group have their processes and their directory together. */
const SHORT = FULL ? 100 : 2;
const GROUP = 20;
const AT_ONCE = 4;
/** Longer than the lease of a killed writer. */
const PATIENCE = 90_000;

it(`agree with a model of each account after ${String(SECONDS)} seconds of writes and kills (seed ${String(SEED)})`, async () => {
  await using fleet = await openFleet(PROCESSES);
  const { findings, counts } = await runSchedule(fleet, {
    seed: SEED,
    milliseconds: SECONDS * 1_000,
    accounts: 50,
    patience: PATIENCE,
  });
  expect(findings.join("\n")).toBe("");
  expect((await inspectAll(fleet)).join("\n")).toBe("");
  // There was something to agree on.
  expect(fleet.kills).toBeGreaterThan(0);
  expect(counts.acknowledged).toBeGreaterThan(FULL ? 500 : 20);
  // A short schedule leaves these to chance.
  if (!FULL) return;
  expect(counts.resumed).toBeGreaterThan(10);
  expect(counts.replayed).toBeGreaterThan(0);
}, 600_000);

it(`agree after ${String(SHORT)} schedules of 5 seconds, four at a time (from seed ${String(SEED + 1)} on)`, async () => {
  for (let first = 0; first < SHORT; first += GROUP) {
    await using fleet = await openFleet(PROCESSES);
    const findings: string[] = [];
    for (let at = first; at < Math.min(first + GROUP, SHORT); at += AT_ONCE) {
      const seeds = Array.from({ length: AT_ONCE }, (_, beside) => SEED + 1 + at + beside);
      const outcomes = await Promise.all(
        seeds.map((seed) => runSchedule(fleet, { seed, milliseconds: 5_000, accounts: 12, patience: 0 })),
      );
      for (const [index, outcome] of outcomes.entries())
        findings.push(...outcome.findings.map((finding) => `seed ${String(seeds[index])}: ${finding}`));
    }
    findings.push(...(await inspectAll(fleet)));
    expect(findings.join("\n")).toBe("");
  }
}, 1_800_000);

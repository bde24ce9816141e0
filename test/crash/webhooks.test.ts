import { expect, it } from "vitest";
import { createDatabase } from "../kit/postgres/databases.ts";
import { holdOneAttempt, runWebhookKills } from "./webhooks.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
const KILLS = FULL ? 50 : 3;
const EVENTS = FULL ? 1000 : 100;
/** In the full counts another one every day; what everybody runs does not depend on the day. */
const SEED = FULL ? Math.floor(Date.now() / 86_400_000) : 1;

/** Two looks of each process, and less than an attempt may take. */
const LATE_MS = 13_000;

it.each(["one process on SQLite", "two processes on PostgreSQL"] as const)(
  `%s: each of ${String(EVENTS)} events is delivered over ${String(KILLS)} times kill -9, and twice only what was in flight (seed ${String(SEED)}) [issue-20]`,
  async (on) => {
    await using place = on === "two processes on PostgreSQL" ? await createDatabase() : null;
    const where = { processes: place === null ? 1 : 2, postgres: place?.url ?? null };
    const report = await runWebhookKills({ kills: KILLS, events: EVENTS, seed: SEED, ...where });
    console.log(JSON.stringify({ on, ...report }));
    expect(report.findings.join("\n")).toBe("");
    expect(report.events).toBe(EVENTS);
    expect(report.inFlight).toBeGreaterThan(0);
    expect(report.mostAttempts).toBeGreaterThan(1);
  },
  FULL ? 1_800_000 : 300_000,
);

it.each(["SQLite", "PostgreSQL"] as const)(
  "two processes on %s: what a living one is at is nobody else's, however late its receiver answers [issue-20]",
  async (on) => {
    await using place = on === "PostgreSQL" ? await createDatabase() : null;
    // Each process looks for abandoned attempts every five seconds.
    const { received, attempts } = await holdOneAttempt(place?.url ?? null, LATE_MS);
    expect({ received, attempts }).toEqual({ received: 1, attempts: ["1 "] });
  },
  120_000,
);

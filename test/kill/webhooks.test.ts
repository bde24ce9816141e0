import { expect, it } from "vitest";
import { createDatabase } from "../kit/postgres/databases.ts";
import { runWebhookKills } from "./webhooks.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
const KILLS = FULL ? 50 : 5;
const EVENTS = FULL ? 1000 : 200;
/** In the full counts another one every day; what everybody runs does not depend on the day. */
const SEED = FULL ? Math.floor(Date.now() / 86_400_000) : 1;

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

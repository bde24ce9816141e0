import { expect, it } from "vitest";
import { runWebhookKills } from "./webhooks.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
const KILLS = FULL ? 50 : 5;
const EVENTS = FULL ? 1000 : 200;
/** In the full counts another one every day; what everybody runs does not depend on the day. */
const SEED = FULL ? Math.floor(Date.now() / 86_400_000) : 1;

it(
  `delivers each of ${String(EVENTS)} events over ${String(KILLS)} times kill -9, and twice only what was in flight (seed ${String(SEED)})`,
  async () => {
    const report = await runWebhookKills({ kills: KILLS, events: EVENTS, seed: SEED });
    expect(report.findings.join("\n")).toBe("");
    expect(report.events).toBe(EVENTS);
    expect(report.inFlight).toBeGreaterThan(0);
    expect(report.mostAttempts).toBeGreaterThan(1);
  },
  FULL ? 600_000 : 300_000,
);

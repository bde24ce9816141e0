import { expect, it } from "vitest";
import { runKills } from "./run.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
const KILLS = FULL ? 60 : 6;
/** In the full counts another one every day; what everybody runs does not depend on the day. */
const SEED = FULL ? Math.floor(Date.now() / 86_400_000) : 1;

it(
  `keeps what it acknowledged, and nothing else, over ${String(KILLS)} times kill -9 (seed ${String(SEED)})`,
  async () => {
    const { files, ledger } = await runKills({ kills: KILLS, seed: SEED, files: FULL ? 1000 : 100 });
    expect(ledger.findings.join("\n")).toBe("");
    expect(ledger.files.length).toBeGreaterThanOrEqual(KILLS);
    expect(ledger.counts.cut).toBeGreaterThan(0);
    expect(files).toBeGreaterThanOrEqual(100);
  },
  FULL ? 600_000 : 300_000,
);

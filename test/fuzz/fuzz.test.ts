import { api, endpointsOf } from "@coffer/contract";
import { expect, it } from "vitest";
import { runFuzz } from "./run.ts";
import { openFuzzSubject, OUT_OF_REACH } from "./subject.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
const COUNT = FULL ? 20_000 : 1_000;
/** In the full counts another one every day, which finds more; what everybody runs does not depend on the day. */
const SEED = FULL ? Math.floor(Date.now() / 86_400_000) : 1;

it(
  `answers ${String(COUNT)} valid, mutated and malformed requests by the contract (seed ${String(SEED)})`,
  async () => {
    await using subject = await openFuzzSubject({ SERVICE_LOG_LEVEL: "info" });
    const report = await runFuzz({ ...subject, count: COUNT, seed: SEED });
    expect(report.findings.join("\n")).toBe("");
    expect(report.sent).toBe(COUNT);
    const tried = endpointsOf(api).filter((e) => report.outcomes.has(e.id));
    expect(tried.length).toBe(endpointsOf(api).length);
    // Requests that are all refused at the door would find nothing. About a quarter is not, give or take what chance does.
    const succeeded = (outcomes: ReadonlyMap<string, number> | undefined): number =>
      [...(outcomes ?? [])].reduce((sum, [outcome, times]) => (outcome.startsWith("2") ? sum + times : sum), 0);
    const all = [...report.outcomes.values()].reduce((sum, outcomes) => sum + succeeded(outcomes), 0);
    expect(all).toBeGreaterThan(COUNT / 10);
    if (FULL) {
      const never = endpointsOf(api).filter((e) => succeeded(report.outcomes.get(e.id)) === 0);
      expect(never.map((e) => e.id).filter((id) => !OUT_OF_REACH.includes(id))).toEqual([]);
    }
  },
  FULL ? 1_800_000 : 300_000,
);

import { api, endpointsOf } from "@coffer/contract";
import { expect, it } from "vitest";
import { openScratchServer } from "../kill/server-process.ts";
import { runFuzz } from "./run.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
const COUNT = FULL ? 20_000 : 1_000;
/** Another seed every day finds more than the same one every day; the title of a failure names it. */
const SEED = Math.floor(Date.now() / 86_400_000);

it(
  `answers ${String(COUNT)} valid, mutated and malformed requests by the contract (seed ${String(SEED)})`,
  async () => {
    await using server = await openScratchServer({ SERVICE_LOG_LEVEL: "info" });
    const report = await runFuzz({ baseUrl: server.baseUrl, count: COUNT, seed: SEED });
    expect(report.findings.join("\n")).toBe("");
    expect(report.sent).toBe(COUNT);
    const tried = endpointsOf(api).filter((e) => report.outcomes.has(e.id));
    expect(tried.length).toBe(endpointsOf(api).length);
  },
  FULL ? 600_000 : 120_000,
);

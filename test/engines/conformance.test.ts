/** The whole interface on real engines. */
import { expect, it } from "vitest";
import { makeAccessCode } from "../journeys/kit/identity.ts";
import { renderReport } from "../conformance/report.ts";
import { runConformance } from "../conformance/run.ts";
import { openScratchServer } from "../crash/server-process.ts";
import { onEngines } from "./on-engines.ts";

onEngines(() => {
  it("finds nothing on PostgreSQL and an S3 store, and calls every endpoint", async () => {
    await using server = await openScratchServer();
    const accessCode = await makeAccessCode(server.variables, { uses: 5 });
    const report = await runConformance({ baseUrl: server.baseUrl, accessCode });
    expect(report.findings, renderReport(report)).toEqual([]);
    expect(report.uncalled).toEqual([]);
  });
});

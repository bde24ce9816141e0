import { expect, it } from "vitest";
import { runConformance } from "./conformance/run.ts";
import { createFake } from "@coffer/sdk/testing";

it("the fake keeps the contract", async () => {
  const fake = createFake();
  const report = await runConformance({
    baseUrl: "http://fake.test",
    transport: fake.fetch,
    accessCode: fake.addAccessCode(5),
  });
  expect({ findings: report.findings, uncalled: report.uncalled, notes: report.notes }).toEqual({
    findings: [],
    uncalled: [],
    notes: [],
  });
});

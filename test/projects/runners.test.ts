/** The packed packages in test runners, and in several writers on one profile store, on Node. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { PATIENCE_MS, projectsOfFile } from "../kit/projects-here.ts";
import { NODES, nodeProgram } from "../shipped/nodes.ts";

const { install, ownerVariables, run } = projectsOfFile();

/** Both find their native modules and workers through the Node that they are started with. */
function onNode(which: (typeof NODES)[number]): { program: string; own: Record<string, string> } {
  const program = nodeProgram(which);
  return { program, own: { PATH: `${dirname(program)}:${process.env["PATH"] ?? ""}`, CI: "1" } };
}

it(
  "Jest runs tests that use them: as ES modules, as CommonJS from Node 24.9 on, and in a page of jsdom",
  async (context) => {
    const directory = await install(context, "jest");
    const jest = ["--experimental-vm-modules", "node_modules/jest/bin/jest.js", "--json", "--runInBand"];
    for (const which of NODES) {
      const { program, own } = onNode(which);
      const files = which === "oldest" ? ["esm", "jsdom", "fake"] : ["esm", "jsdom", "fake", "commonjs"];
      const printed = await run(program, directory, [...jest, ...files], { ...ownerVariables(), ...own });
      const { success, numPassedTests } = JSON.parse(printed) as { success: boolean; numPassedTests: number };
      expect({ success, numPassedTests }).toEqual({ success: true, numPassedTests: files.length });
    }
  },
  PATIENCE_MS,
);

it(
  "Vitest runs tests that use them, in Node and in a page of jsdom",
  async (context) => {
    const directory = await install(context, "vitest");
    const { program, own } = onNode("oldest");
    // It prints no report, but where it has written one.
    const report = join(directory, "report.json");
    const vitest = [
      "node_modules/vitest/vitest.mjs",
      "run",
      "--reporter=json",
      `--outputFile=${report}`,
      "--maxWorkers=1",
    ];
    await run(program, directory, vitest, { ...ownerVariables(), ...own });
    const { success, numPassedTests } = JSON.parse(readFileSync(report, "utf8")) as {
      success: boolean;
      numPassedTests: number;
    };
    expect({ success, numPassedTests }).toEqual({ success: true, numPassedTests: 4 });
  },
  PATIENCE_MS,
);

describe("three writers on one profile store", () => {
  it(
    "work as threads and as processes",
    async (context) => {
      const directory = await install(context, "one-store");
      const own = { SERVICE_CONFIG_DIR: join(directory, "settings") };
      for (const how of ["threads", "processes"])
        expect([how, await run(nodeProgram("oldest"), directory, ["main.js", how], own)]).toEqual([how, "done"]);
    },
    PATIENCE_MS,
  );
});

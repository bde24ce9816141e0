/** J18: the contract cannot drift from server, mock and SDK unseen. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { createFake } from "@coffer/sdk/testing";
import { uncoveredBy } from "../../conformance/fake.ts";
import { runConformance } from "../../conformance/run.ts";
import { changeOnce, checkTypes, copyWorkspace, runSuites, type TestOutcome } from "./mutated-copy.ts";
import { startMockServer } from "./mock-server.ts";
import type { Checks, World } from "./run.ts";
import { REPOSITORY } from "../kit/stack.ts";

/** Enough of each suite to see it fail, and not for another reason. */
const RUN = [
  "packages/contract/",
  "packages/sdk/src/http/byte-body.test.ts",
  "packages/sdk/src/webhooks/",
  "packages/sdk/src/testing/",
  "test/pins/generated",
];

const SUITES = {
  contract: (file: string) => file.startsWith("packages/contract/") || file.startsWith("test/pins/generated"),
  mock: (file: string) => file.startsWith("packages/sdk/src/testing/"),
  sdk: (file: string) => file.startsWith("packages/sdk/") && !file.startsWith("packages/sdk/src/testing/"),
} as const;

export async function contractDrift({ stack, scratch }: World): Promise<Checks> {
  const copy = join(scratch, "copy");
  await copyWorkspace(copy);
  await changeOnce(join(copy, "packages/contract/src/files.ts"), "sha256: sha256Hex,", "digestHex: sha256Hex,");
  const [outcomes, types] = [await runSuites(copy, RUN), await checkTypes(copy)];
  return {
    "J18-contract-fails": async () => assertBites(outcomes, "contract"),
    "J18-mock-fails": async () => assertBites(outcomes, "mock"),
    "J18-sdk-fails": async () => assertBites(outcomes, "sdk"),
    "J18-types-fail": async () => {
      assert.match(types, /^server\/src\/.*sha256/m, "the server still agrees with the contract");
      assert.match(types, /^packages\/sdk\/src\/(?!.*\.test\.ts).*sha256/m, "the SDK still agrees with the contract");
    },
    "J18-conformance-server": () => assertConforms(stack.baseUrl, { SERVICE_API_KEY: stack.apiKey }),
    "J18-conformance-mock": async () => {
      const fake = createFake();
      await using mock = await startMockServer(fake);
      const { findings } = await runConformance({ baseUrl: mock.baseUrl, without: uncoveredBy(fake) });
      assert.deepEqual(findings, []);
    },
  };
}

/** Some tests fail, and others pass: a copy that does not work at all would prove nothing. */
function assertBites(outcomes: readonly TestOutcome[], suite: keyof typeof SUITES): void {
  const own = outcomes.filter(({ file }) => SUITES[suite](file));
  const failed = own.filter(({ passed }) => !passed);
  assert.ok(failed.length > 0, `none of ${own.length} tests failed`);
  assert.ok(failed.length < own.length, `all ${own.length} tests failed`);
}

/** The program that anyone runs against a live server: exit code 0. */
function assertConforms(baseUrl: string, variables: Readonly<Record<string, string>>): Promise<void> {
  const program = ["--conditions=coffer-source", join(REPOSITORY, "dev/scripts/conformance.ts"), baseUrl];
  const env = { PATH: process.env["PATH"], HOME: process.env["HOME"], ...variables };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, program, { env }, (error, stdout, stderr) => {
      if (error === null) resolve();
      else reject(new Error(`${stdout}${stderr}`.slice(-2000)));
    });
  });
}

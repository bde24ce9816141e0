import { writeFileSync } from "node:fs";
import type { SerializedError } from "vitest";
import type { Reporter, TestModule, TestSuite } from "vitest/node";

/** What one vitest run came to, as `dev/scripts/test.ts` adds it up. */
export interface VitestResults {
  readonly passed: number;
  /** Failed tests, files and suites that could not be set up, and errors outside of any test. */
  readonly failed: number;
  /** The same, for the end of the run: where, and the first line of why. */
  readonly failures: readonly string[];
  readonly skipped: readonly { readonly title: string; readonly reason: string }[];
  /** Files of which a test ran. */
  readonly files: number;
  /** By file, longest first. */
  readonly times: readonly FileTime[];
}

export interface FileTime {
  readonly file: string;
  /** By the clock. */
  readonly seconds: number;
  /** Of its process and of what that started and waited for. */
  readonly processorSeconds: number;
}

/** A vitest reporter that writes {@link VitestResults} as JSON to the file that `COFFER_TEST_RESULTS` names. */
export default class ResultsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const file = process.env["COFFER_TEST_RESULTS"];
    if (file === undefined) throw new Error("COFFER_TEST_RESULTS names no file to write the results to");
    writeFileSync(file, JSON.stringify(resultsOf(modules, unhandled)));
  }
}

function resultsOf(modules: readonly TestModule[], unhandled: readonly SerializedError[]): VitestResults {
  const tests = modules.flatMap((module) => [...module.children.allTests()].map((test) => ({ module, test })));
  const states = tests.map(({ test }) => test.result().state);
  const broken = modules.flatMap((module): (TestModule | TestSuite)[] => [module, ...module.children.allSuites()]);
  const times = modules.map((module) => ({
    file: module.relativeModuleId,
    seconds: secondsOf(module),
    processorSeconds: (module.meta() as { processorSeconds?: number }).processorSeconds ?? 0,
  }));
  return {
    times: times.toSorted((a, b) => b.seconds - a.seconds),
    files: new Set(
      tests.filter(({ test }) => /^(passed|failed)$/.test(test.result().state)).map(({ module }) => module),
    ).size,
    failures: [
      ...tests.flatMap(({ module, test }) =>
        test.result().state === "failed" ? [failureLine(module, test.fullName, test.result().errors)] : [],
      ),
      ...broken.flatMap((part) =>
        part
          .errors()
          .map((error) =>
            part.type === "module" ? failureLine(part, "", [error]) : failureLine(part.module, part.fullName, [error]),
          ),
      ),
      ...unhandled.map(({ message }) => `outside of any test: ${firstLine(message)}`),
    ],
    passed: states.filter((state) => state === "passed").length,
    failed:
      states.filter((state) => state === "failed").length +
      broken.filter((part) => part.errors().length > 0).length +
      unhandled.length,
    // A test that never got its turn ("pending") did not run either.
    skipped: tests.flatMap(({ module, test }) => {
      const result = test.result();
      if (result.state === "passed" || result.state === "failed") return [];
      const reason = (result.state === "skipped" ? result.note : undefined) ?? `${result.state}, no reason given`;
      return [{ title: `${module.relativeModuleId} > ${test.fullName}`, reason }];
    }),
  };
}

function failureLine(
  { relativeModuleId }: TestModule,
  name: string,
  errors: readonly { readonly message: string }[] | undefined,
): string {
  return `${relativeModuleId}${name === "" ? "" : ` > ${name}`}: ${firstLine(errors?.[0]?.message ?? "")}`;
}

const firstLine = (message: string): string => (message.split("\n")[0] ?? "").slice(0, 200);

/** From the start of its process to the end of its last test and of its scan. */
function secondsOf(module: TestModule): number {
  const { environmentSetupDuration, prepareDuration, setupDuration, collectDuration, duration } = module.diagnostic();
  return (environmentSetupDuration + prepareDuration + setupDuration + collectDuration + duration) / 1000;
}

/** A copy of the workspace with one thing changed, and what its suites say of it. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { parseObject, REPOSITORY } from "../kit/stack.ts";

const COPIED = ["packages", "server", "dev", "test", "docs", "package.json", "tsconfig.json", "vitest.config.ts"];
const LEFT_OUT = new Set(["node_modules", "dist", ".coffer"]);

/** Copies the workspace into `directory`. Third-party packages are linked, the workspace's own come from the copy. */
export async function copyWorkspace(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  const filter = (source: string): boolean => !LEFT_OUT.has(basename(source));
  for (const name of COPIED) await cp(join(REPOSITORY, name), join(directory, name), { recursive: true, filter });
  const members = [
    ...(await readdir(join(directory, "packages"))).map((name) => join("packages", name)),
    "dev/localnet",
    "dev/devstack",
    "server",
  ];
  await linkEntries(join(REPOSITORY, "node_modules"), join(directory, "node_modules"));
  await mkdir(join(directory, "node_modules", "@coffer"));
  for (const member of members) {
    await symlink(join(directory, member), join(directory, "node_modules", "@coffer", basename(member)));
    const nested = join(REPOSITORY, member, "node_modules");
    if (existsSync(nested)) await linkEntries(nested, join(directory, member, "node_modules"));
  }
  await leaveScanToCaller(directory);
}

/**
 * The suites of the copy belong to the test that runs them: they are tapped with it, as all that it starts, and it is scanned at its own
 * end. A scan of their own would take away what it has noted so far (CONTRIBUTING, "The scan").
 */
async function leaveScanToCaller(directory: string): Promise<void> {
  const config = join(directory, "vitest.config.ts");
  await changeOnce(config, '    setupFiles: ["test/kit/scan/vitest-setup.ts"],\n', "");
  await changeOnce(config, ', `--import=${new URL("test/kit/scan/preload.mjs", import.meta.url).href}`', "");
}

/** Links every package of one node_modules into another, but not the workspace's own. */
async function linkEntries(from: string, to: string): Promise<void> {
  await mkdir(to);
  for (const name of await readdir(from)) if (name !== "@coffer") await symlink(join(from, name), join(to, name));
}

/** Replaces `before`, which must stand exactly once in the file. */
export async function changeOnce(file: string, before: string, after: string): Promise<void> {
  const text = await readFile(file, "utf8");
  const parts = text.split(before);
  if (parts.length !== 2) throw new Error(`${basename(file)} holds ${parts.length - 1} times: ${before}`);
  await writeFile(file, parts.join(after));
}

/** One test of a run. `file` is relative to the copy; a file that could not be loaded counts as one failed test. */
export interface TestOutcome {
  readonly file: string;
  readonly passed: boolean;
}

/** Runs the test files below these folders in the copy. */
export async function runSuites(directory: string, folders: readonly string[]): Promise<TestOutcome[]> {
  const report = join(directory, "report.json");
  const vitest = join(directory, "node_modules", "vitest", "vitest.mjs");
  await runProgram(directory, [vitest, "run", "--reporter=json", `--outputFile=${report}`, ...folders]);
  const { testResults } = parseObject(await readFile(report, "utf8"));
  if (!Array.isArray(testResults)) throw new TypeError("the report has no testResults");
  return testResults.flatMap((result: unknown) => outcomesOf(directory, parseObject(JSON.stringify(result))));
}

function outcomesOf(directory: string, result: Readonly<Record<string, unknown>>): TestOutcome[] {
  const file = String(result["name"]).replace(`${directory}/`, "");
  const tests = Array.isArray(result["assertionResults"]) ? result["assertionResults"] : [];
  if (tests.length === 0) return [{ file, passed: result["status"] === "passed" }];
  return tests.map((test: unknown) => ({ file, passed: parseObject(JSON.stringify(test))["status"] === "passed" }));
}

/** What the type checker says of the copy. */
export async function checkTypes(directory: string): Promise<string> {
  const checker = join(directory, "node_modules", "typescript-native", "bin", "tsc");
  return runProgram(directory, [checker, "-p", "tsconfig.json"]);
}

/** Runs a Node program and answers what it printed, whatever its exit code. */
export function runProgram(directory: string, programArguments: readonly string[]): Promise<string> {
  // Only what a program needs: a test runner's own variables would change the run inside.
  const env = { PATH: process.env["PATH"], HOME: process.env["HOME"] };
  const options = { cwd: directory, env, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve) => {
    execFile(process.execPath, [...programArguments], options, (_error, stdout, stderr) => resolve(stdout + stderr));
  });
}

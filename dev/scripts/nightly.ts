// `npm run test:nightly`: the full counts, long campaigns and slow programs that `.ci/run` leaves out or shortens, suite by suite.
// test/nightly.json holds the last result of each suite with the commit that it tested. A suite that passed on the present
// sources is not run again, so a run that was cut off goes on where it stopped; `-- --suite NAME` runs one whatever it holds.
// The last line is `N passed, N failed, N skipped`, of this run's suites alone.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { openMemoryScratch } from "./memory-scratch.ts";
import type { VitestResults } from "./vitest-results.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const RESULTS = path.join("test", "nightly.json");

/**
 * `counted`: globs; of the test files that they match, those run that have full counts. `whole`: every test file runs whose path contains
 * one of these. Both leave out what only `project`, one of vitest.config.ts, has. `script`: a script of package.json, with its arguments.
 */
type Suite =
  | { readonly counted: readonly string[]; readonly whole?: readonly string[] }
  | { readonly whole: readonly string[] }
  | { readonly project: string }
  | { readonly script: readonly string[] };

const SUITES: Readonly<Record<string, Suite>> = {
  // What no other run has: NIGHTLY of vitest.config.ts.
  programs: { project: "nightly*" },
  formats: { counted: ["packages/{chain,contract,crypto}/src/**/*", "dev/localnet/src/**/*", "test/{chain,move}/*"] },
  clients: {
    counted: ["packages/{cli,mcp,sdk,tasks}/src/**/*", "test/signers/*", "test/{cli,mcp,shipped}/*", "test/start*"],
  },
  server: {
    counted: [
      "server/src/{features,jobs,drivers/blobs,drivers/mail,drivers/webhook-sender}/**/*",
      "test/security/permissions*",
    ],
    whole: ["server/src/drivers/message-signatures"],
  },
  races: { counted: ["server/src/{races,drivers/database}/**/*"] },
  crashes: {
    whole: [
      "test/client-",
      "test/shared-files/crash",
      "test/shared-files/rewind-crash",
      "test/shared-vaults/crash",
      "test/shared-vaults/rotation-crash",
    ],
  },
  operator: { counted: ["test/operator/*"] },
  kills: { counted: ["test/crash/*"] },
  campaigns: { whole: ["test/any-answer", "test/security/attack/attack", "test/fuzz"] },
  // Alone, since whatever runs beside it changes what it measures.
  timing: { whole: ["test/security/attack/sign-in-timing"] },
  journeys: { whole: ["test/journeys/journeys"] },
  pages: { script: ["check:pages", "--all"] },
};

interface SuiteResult {
  readonly commit: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly minutes: number;
}

const { values } = parseArgs({ options: { suite: { type: "string", multiple: true } } });
const results = readResults();
const commit = git("rev-parse", "HEAD");
if (git("status", "--porcelain", "--", ".", `:!${RESULTS}`) !== "")
  console.error("There are changes that are not committed: the results will name the commit below them.");

const total = { passed: 0, failed: 0, skipped: 0 };
for (const name of values.suite ?? Object.keys(SUITES)) {
  if (values.suite === undefined && isCurrent(results[name])) {
    console.log(`ok     ${name.padEnd(12)} passed before on these sources`);
    continue;
  }
  const result = await runSuite(name);
  results[name] = result;
  writeFileSync(path.join(ROOT, RESULTS), `${JSON.stringify(results, null, 2)}\n`);
  total.passed += result.passed;
  total.failed += result.failed;
  total.skipped += result.skipped;
}
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed === 0 ? 0 : 1;

function readResults(): Record<string, SuiteResult> {
  const file = path.join(ROOT, RESULTS);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Record<string, SuiteResult>) : {};
}

/** It passed on a commit that differs from the present one in no file but the results. */
function isCurrent(result: SuiteResult | undefined): boolean {
  if (result === undefined || result.failed > 0) return false;
  try {
    return git("diff", "--name-only", result.commit, "--", ".", `:!${RESULTS}`) === "";
  } catch {
    // The commit is not in this clone.
    return false;
  }
}

async function runSuite(name: string): Promise<SuiteResult> {
  const suite = SUITES[name];
  if (suite === undefined) throw new Error(`There is no suite ${name}: name one of ${Object.keys(SUITES).join(", ")}`);
  const started = performance.now();
  const { passed, failed, skipped } =
    "script" in suite ? await runScript(suite.script) : await runVitest(argumentsOf(suite));
  const minutes = Math.round((performance.now() - started) / 6000) / 10;
  const counts = `${passed} passed, ${failed} failed, ${skipped.length} skipped`;
  console.log(
    `${failed === 0 ? "ok    " : "FAILED"} ${name.padEnd(12)} ${minutes.toFixed(1).padStart(5)} min  ${counts}`,
  );
  for (const { title, reason } of skipped) console.log(`       skipped: ${title}: ${reason}`);
  return { commit, passed, failed, skipped: skipped.length, minutes };
}

/** What Vitest is told to run. */
function argumentsOf(suite: Exclude<Suite, { readonly script: unknown }>): string[] {
  if ("project" in suite) return [`--project=${suite.project}`];
  const patterns = "counted" in suite ? suite.counted : [];
  const counted = globSync(
    patterns.map((pattern) => `${pattern}.test.ts`),
    { cwd: ROOT, exclude: ["**/node_modules/**"] },
  ).filter((file) => readFileSync(path.join(ROOT, file), "utf8").includes("COFFER_TEST_COUNTS"));
  return ["--project=!nightly*", ...counted, ...(suite.whole ?? [])];
}

type Counts = Pick<VitestResults, "passed" | "failed" | "skipped">;

/** It counts as one test. */
async function runScript([name = "", ...args]: readonly string[]): Promise<Counts> {
  const code = await runNode(["--run", name, "--", ...args]);
  return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: [] };
}

async function runVitest(args: readonly string[]): Promise<Counts> {
  const scratch = mkdtempSync(path.join(tmpdir(), "coffer-nightly-"));
  using memory = openMemoryScratch();
  try {
    const file = path.join(scratch, "results.json");
    const reporters = ["default", path.join(ROOT, "dev/scripts/vitest-results.ts")].map((name) => `--reporter=${name}`);
    const vitest = path.join(ROOT, "node_modules", "vitest", "vitest.mjs");
    // Four at a time on two processors: many wait for programs that they killed or started.
    const code = await runNode([vitest, "run", "--maxWorkers=4", ...reporters, ...args], {
      ...memory.environment,
      COFFER_TEST_COUNTS: "full",
      COFFER_TEST_RESULTS: file,
    });
    if (!existsSync(file)) return { passed: 0, failed: 1, skipped: [] };
    const { passed, failed, skipped } = JSON.parse(readFileSync(file, "utf8")) as VitestResults;
    // Nothing collected, or an error that no test owns: vitest says so with its exit code alone.
    return { passed, failed: failed === 0 && (code !== 0 || passed === 0) ? 1 : failed, skipped };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** What the program prints goes to standard error as it comes. Resolves with its exit code. */
function runNode(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<number> {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, NO_COLOR: "1", ...env },
    stdio: ["ignore", 2, 2],
  });
  return new Promise((resolve) => child.once("close", (status) => resolve(status ?? 1)));
}

function git(...words: string[]): string {
  return execFileSync("git", words, { cwd: ROOT, encoding: "utf8" }).trim();
}

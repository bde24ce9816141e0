// `npm test`: every check of the repository, each to its end whatever the others came to. Prints one line per stage as it
// ends, the output of what failed, and last `N passed, N failed, N skipped`: every test, and each other stage as one.
// `npm run test:full` sets COFFER_TEST_COUNTS=full: the same stages with the full counts of the randomised tests.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import { scanUnit } from "../test/kit/scan/scan-unit.ts";
import { addOutcomes, TALLY_VARIABLE, writeOutcome } from "../test/kit/scan/tally.ts";
import { UNIT_VARIABLE } from "../test/kit/scan/unit.ts";
import type { VitestResults } from "./vitest-results.ts";

const ROOT = path.dirname(import.meta.dirname);

interface Stage {
  readonly name: string;
  readonly run: () => Promise<Outcome>;
}

interface Outcome {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: VitestResults["skipped"];
  /** Shown when the stage failed. */
  readonly output: string;
}

/** What the scan of each test file and each example came to (CONTRIBUTING, "The scan"). */
const tallies = mkdtempSync(path.join(tmpdir(), "coffer-tally-"));
/** Test files and examples that ran: each is scanned. */
let scanned = 0;

const total = { passed: 0, failed: 0, skipped: 0 };

// Two at a time, no more: the machines this runs on have two cores. The tests use both by themselves.
await inLanes(
  [script("typecheck"), script("lint"), script("format:check"), script("check:floors")],
  [script("build"), script("check:packages"), script("size")],
);
await inLanes([{ name: "tests", run: runVitest }]);
await inLanes(examples());
await inLanes([{ name: "scan", run: addScans }]);
rmSync(tallies, { recursive: true, force: true });
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed === 0 ? 0 : 1;

async function inLanes(...lanes: readonly (readonly Stage[])[]): Promise<void> {
  await Promise.all(
    lanes.map(async (lane) => {
      for (const stage of lane) await runStage(stage);
    }),
  );
}

async function runStage({ name, run }: Stage): Promise<void> {
  const started = performance.now();
  const { passed, failed, skipped, output } = await run().catch(failure);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const counts = passed + failed > 1 ? `  ${passed} passed, ${failed} failed, ${skipped.length} skipped` : "";
  console.log(`${failed === 0 ? "ok    " : "FAILED"} ${name.padEnd(24)} ${seconds.padStart(6)} s${counts}`);
  for (const { title, reason } of skipped) console.log(`       skipped: ${title}: ${reason}`);
  if (failed > 0) console.log(output.trimEnd().replace(/^/gm, "       "));
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped.length;
}

/** What goes wrong around a stage is a failure of that stage: the others still get their turn. */
function failure(error: unknown): Outcome {
  return { passed: 0, failed: 1, skipped: [], output: error instanceof Error ? String(error.stack) : String(error) };
}

/** A script of package.json, as one stage. */
function script(name: string): Stage {
  return { name, run: () => runOne(["--run", name]) };
}

/** Every program directly in examples/; each asserts its own claims and exits non-zero when one is false. */
function examples(): Stage[] {
  const directory = path.join(ROOT, "examples");
  const files = existsSync(directory) ? readdirSync(directory).filter((file) => file.endsWith(".ts")) : [];
  if (files.length === 0) return [{ name: "examples", run: () => Promise.reject(new Error("there are no examples")) }];
  return files.sort().map((file) => ({
    name: `examples/${file}`,
    run: () => runScanned(path.join("examples", file)),
  }));
}

async function runOne(args: readonly string[]): Promise<Outcome> {
  const { code, output } = await runNode(args);
  return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: [], output };
}

/** Everything that the program sends and stores is searched for what only its own users may know. */
async function runScanned(program: string): Promise<Outcome> {
  const unit = mkdtempSync(path.join(tmpdir(), "coffer-scan-"));
  try {
    scanned += 1;
    const preload = `--import=${new URL("../test/kit/scan/preload.mjs", import.meta.url).href}`;
    const { code, output } = await runNode(["--conditions=coffer-source", preload, program], { [UNIT_VARIABLE]: unit });
    const outcome = scanUnit(unit);
    writeOutcome(tallies, program, outcome);
    const failed = code !== 0 || outcome.problems.length > 0;
    const found = outcome.problems.map((problem) => `the scan found ${problem}\n`).join("");
    return { passed: failed ? 0 : 1, failed: failed ? 1 : 0, skipped: [], output: output + found };
  } finally {
    rmSync(unit, { recursive: true, force: true });
  }
}

/** One check of its own: it fails also when it saw less than there is to see. */
async function addScans(): Promise<Outcome> {
  const { line, problems } = addOutcomes(tallies, scanned);
  console.log(line);
  const failed = problems.length > 0;
  return { passed: failed ? 0 : 1, failed: failed ? 1 : 0, skipped: [], output: problems.slice(0, 40).join("\n") };
}

async function runVitest(): Promise<Outcome> {
  const scratch = mkdtempSync(path.join(tmpdir(), "coffer-test-"));
  try {
    const file = path.join(scratch, "results.json");
    const reporters = ["--reporter=default", `--reporter=${path.join(ROOT, "scripts/vitest-results.ts")}`];
    const args = [path.join("node_modules", "vitest", "vitest.mjs"), "run", ...reporters];
    const { code, output } = await runNode(args, { COFFER_TEST_RESULTS: file, [TALLY_VARIABLE]: tallies });
    if (!existsSync(file)) return { passed: 0, failed: 1, skipped: [], output: `vitest wrote no results\n${output}` };
    const results = JSON.parse(readFileSync(file, "utf8")) as VitestResults;
    scanned += results.files;
    // Nothing collected, or an error that no test owns: vitest says so with its exit code alone.
    const unseen = results.failed === 0 && (code !== 0 || results.passed === 0) ? 1 : 0;
    return { ...results, failed: results.failed + unseen, output };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function runNode(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      cwd: ROOT,
      env: { ...process.env, NO_COLOR: "1", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const stop = (signal: NodeJS.Signals): void => {
      child.kill(signal);
      process.exitCode = 1;
    };
    process.once("SIGTERM", stop).once("SIGINT", stop);
    const chunks: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (chunk: string) => chunks.push(chunk));
    child.on("error", (error) => chunks.push(String(error)));
    child.on("close", (code) => {
      process.off("SIGTERM", stop).off("SIGINT", stop);
      resolve({ code: code ?? 1, output: stripVTControlCharacters(chunks.join("")) });
    });
  });
}

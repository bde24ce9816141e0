// `test.ts checks tests` is `npm test`, `test.ts deep` is `npm run test:deep`. Each stage runs to its end, whatever
// the others do. The first line says how long it takes. Prints one line per stage as it ends, the output of failures, and where
// the time went: by the clock and of the processors. The last line is `N passed, N failed, N skipped`: it counts every test, and
// each other stage as one. Standard error shows how far the tests are. `--only` chooses one part.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs, stripVTControlCharacters } from "node:util";
import { scanUnit } from "../../test/kit/scan/scan-unit.ts";
import { addOutcomes, FEWEST, TALLY_VARIABLE, writeOutcome } from "../../test/kit/scan/tally.ts";
import { UNIT_VARIABLE } from "../../test/kit/scan/unit.ts";
import { childProcessorSeconds } from "../../test/kit/processor-time.ts";
import { openMemoryScratch } from "./memory-scratch.ts";
import type { FileTime, VitestResults } from "./vitest-results.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
/** As many test files are named at the end of a run. */
const SLOWEST = 15;
/** The file descriptor on which a run of vitest says how far it is. */
const PROGRESS = 3;

interface Stage {
  readonly name: string;
  readonly run: () => Promise<Outcome>;
}

interface Outcome {
  /** Of tests, a line each: named once more at the end of the run. */
  readonly failures?: readonly string[];
  readonly passed: number;
  readonly failed: number;
  readonly skipped: VitestResults["skipped"];
  /** Shown when the stage failed. */
  readonly output: string;
  /** Shown in any case. */
  readonly notes?: readonly string[];
  readonly processorSeconds?: number;
}

/** By suite, what it runs of the projects in `vitest.config.ts`. */
const PROJECTS = { tests: "tests*", deep: "deep*" };
/** By suite, how many files at a time on two processors. Many of the deep tests wait for programs that they killed or started. */
const WORKERS = { tests: 6, deep: 5 };

/** Test files that are run and scanned together. */
interface Suite {
  readonly name: keyof typeof PROJECTS;
  /** What the scan of each test file and each example came to (CONTRIBUTING, "The scan"). */
  readonly tallies: string;
  /** Test files and examples that ran: each is scanned. */
  scanned: number;
}

/** Checks that take one core for as long as all pages together, and then some: they go on while the deep tests begin. */
let beside: Promise<void> = Promise.resolve();

// Two or three at a time, no more: the machines this runs on have two cores. The tests use both by themselves.
const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  checks: () => inLanes([script("format:check"), script("typecheck")], [script("check:floors"), script("size")]),
  tests: () => runSuite("tests"),
  deep: async () => {
    await inLanes([script("build")]);
    beside = inLanes([
      script("check:packages"),
      script("check:hovers"),
      script("bundle:mcp"),
      script("conformance:mcp"),
      script("lint"),
    ]);
    await inLanes([script("check:pages")]);
    await runSuite("deep");
  },
};

const times: FileTime[] = [];
const stageTimes: FileTime[] = [];
/** As of the child that ended last. */
let childSeconds = 0;

const failedLines: string[] = [];
const total = { passed: 0, failed: 0, skipped: 0 };

const { values, positionals } = parseArgs({ options: { only: { type: "string" } }, allowPositionals: true });
const TIMES = path.join(ROOT, "node_modules", ".cache", `coffer-times-${values.only ?? positionals.join("-")}.txt`);
const parts = (values.only === undefined ? positionals : [values.only]).map((name) => {
  const part = PARTS[name];
  if (part === undefined) throw new Error(`There is no part ${name}: name one of ${Object.keys(PARTS).join(", ")}`);
  return part;
});
const started = performance.now();
console.log(durationSentence());
for (const part of parts) await part();
await beside;
printTimes();
for (const line of failedLines) console.log(`failed: ${line}`);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed === 0 ? 0 : 1;

/** How long to wait: as the last run here took, by the clock. Before the first one, as it is on a machine like those that this runs on. */
function durationSentence(): string {
  const usual = positionals.includes("deep") || values.only === "deep" ? "35 minutes" : "6 minutes";
  const [, last] = existsSync(TIMES) ? (/^\s*([\d.]+)\s+[\d.]+ {2}all$/m.exec(readFileSync(TIMES, "utf8")) ?? []) : [];
  if (last === undefined) return `This takes about ${usual} on two processors`;
  return `This takes about ${Math.ceil(Number(last) / 60)} minutes, as the last run here did`;
}

/** Where the time went: by the clock, and of the processors. */
function printTimes(): void {
  const line = ({ file, seconds, processorSeconds }: FileTime): string =>
    `${seconds.toFixed(1).padStart(9)} ${processorSeconds.toFixed(1).padStart(9)}  ${file}`;
  const slowest = times.toSorted((a, b) => b.seconds - a.seconds);
  mkdirSync(path.dirname(TIMES), { recursive: true });
  const all = { file: "all", seconds: (performance.now() - started) / 1000, processorSeconds: childProcessorSeconds() };
  writeFileSync(TIMES, [...stageTimes, all, ...slowest].map((time) => `${line(time)}\n`).join(""));
  console.log(
    `  seconds processor  stage, and the slowest of ${slowest.length} test files (all: ${path.relative(ROOT, TIMES)})`,
  );
  for (const time of [...stageTimes, all, ...slowest.slice(0, SLOWEST)]) console.log(line(time));
}

async function runSuite(name: Suite["name"]): Promise<void> {
  const suite: Suite = { name, tallies: mkdtempSync(path.join(tmpdir(), "coffer-tally-")), scanned: 0 };
  try {
    await inLanes([{ name, run: () => runVitest(suite) }]);
    if (name === "deep") await inLanes(...examples(suite));
    await inLanes([{ name: `scan of ${name}`, run: () => addScans(suite) }]);
  } finally {
    rmSync(suite.tallies, { recursive: true, force: true });
  }
}

async function inLanes(...lanes: readonly (readonly Stage[])[]): Promise<void> {
  await Promise.all(
    lanes.map(async (lane) => {
      for (const stage of lane) await runStage(stage);
    }),
  );
}

async function runStage({ name, run }: Stage): Promise<void> {
  const started = performance.now();
  const { passed, failed, skipped, output, notes = [], processorSeconds = 0, failures } = await run().catch(failure);
  // An error that no test owns has no line of its own.
  if (failed > 0) failedLines.push(...(failures?.length ? failures : [name]));
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  stageTimes.push({ file: name, seconds: Number(seconds), processorSeconds });
  const counts = passed + failed > 1 ? `  ${passed} passed, ${failed} failed, ${skipped.length} skipped` : "";
  console.log(`${failed === 0 ? "ok    " : "FAILED"} ${name.padEnd(24)} ${seconds.padStart(6)} s${counts}`);
  for (const note of notes) console.log(`       ${note}`);
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
function script(name: string, args: readonly string[] = []): Stage {
  return { name, run: () => runOne(["--run", name, "--", ...args]) };
}

/** Every program directly in examples/, in two lanes; each asserts its own claims and exits non-zero when one is false. */
function examples(suite: Suite): Stage[][] {
  const directory = path.join(ROOT, "examples");
  const files = existsSync(directory) ? readdirSync(directory).filter((file) => file.endsWith(".ts")) : [];
  if (files.length === 0)
    return [[{ name: "examples", run: () => Promise.reject(new Error("there are no examples")) }]];
  const stages = files.sort().map((file) => ({
    name: `examples/${file}`,
    run: () => runScanned(path.basename(file, ".ts"), suite),
  }));
  return [0, 1].map((lane) => stages.filter((_, index) => index % 2 === lane));
}

async function runOne(args: readonly string[]): Promise<Outcome> {
  const { code, output, processorSeconds } = await runNode(args);
  const notes = [...output.matchAll(/^note: +(.+)$/gm)].map(([, note = ""]) => note);
  return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: [], output, notes, processorSeconds };
}

/**
 * Searches everything that the program sends and stores for texts that only its own users may see. It runs with an
 * empty home directory and no configuration directory, as a copy of it does, and must leave that home empty.
 */
async function runScanned(example: string, suite: Suite): Promise<Outcome> {
  const unit = mkdtempSync(path.join(tmpdir(), "coffer-scan-"));
  const home = mkdtempSync(path.join(tmpdir(), "coffer-home-"));
  try {
    suite.scanned += 1;
    const preload = `--import=${new URL("../../test/kit/scan/preload.mjs", import.meta.url).href}`;
    const args = ["--conditions=coffer-source", preload, path.join("dev", "scripts", "example.ts"), example];
    const unset = { XDG_CONFIG_HOME: "", SERVICE_CONFIG_DIR: "" };
    const { code, output, processorSeconds } = await runNode(args, { ...unset, HOME: home, [UNIT_VARIABLE]: unit });
    const left = readdirSync(home, { recursive: true }).map((entry) => `the example wrote ~/${String(entry)}\n`);
    const outcome = scanUnit(unit);
    writeOutcome(suite.tallies, `examples/${example}`, outcome);
    const problems = [...outcome.problems.map((problem) => `the scan found ${problem}\n`), ...left];
    const failed = code !== 0 || problems.length > 0;
    return {
      passed: failed ? 0 : 1,
      failed: failed ? 1 : 0,
      skipped: [],
      output: output + problems.join(""),
      processorSeconds,
    };
  } finally {
    for (const directory of [unit, home]) rmSync(directory, { recursive: true, force: true });
  }
}

/** One check of its own: it fails also when it saw less than there is to see. */
async function addScans({ name, tallies, scanned }: Suite): Promise<Outcome> {
  const { line, problems } = addOutcomes(tallies, scanned, FEWEST[name]);
  console.log(line);
  const failed = problems.length > 0;
  return { passed: failed ? 0 : 1, failed: failed ? 1 : 0, skipped: [], output: problems.slice(0, 40).join("\n") };
}

async function runVitest(suite: Suite): Promise<Outcome> {
  const scratch = mkdtempSync(path.join(tmpdir(), "coffer-test-"));
  using memory = openMemoryScratch();
  try {
    const file = path.join(scratch, "results.json");
    const reporters = [
      "default",
      path.join(ROOT, "dev/scripts/vitest-results.ts"),
      path.join(ROOT, "dev/scripts/vitest-progress.ts"),
    ];
    const { code, output, processorSeconds } = await runNode(
      [
        path.join("node_modules", "vitest", "vitest.mjs"),
        "run",
        `--project=${PROJECTS[suite.name]}`,
        `--maxWorkers=${String(WORKERS[suite.name])}`,
        ...reporters.map((reporter) => `--reporter=${reporter}`),
      ],
      {
        ...memory.environment,
        COFFER_TEST_RESULTS: file,
        COFFER_TEST_PROGRESS: String(PROGRESS),
        [TALLY_VARIABLE]: suite.tallies,
      },
    );
    if (!existsSync(file)) return { passed: 0, failed: 1, skipped: [], output: `vitest wrote no results\n${output}` };
    const results = JSON.parse(readFileSync(file, "utf8")) as VitestResults;
    suite.scanned += results.files;
    times.push(...results.times);
    // Nothing collected, or an error that no test owns: vitest says so with its exit code alone.
    const unseen = results.failed === 0 && (code !== 0 || results.passed === 0) ? 1 : 0;
    return { ...results, failed: results.failed + unseen, output, processorSeconds };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function runNode(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number; output: string; processorSeconds: number }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      cwd: ROOT,
      env: { ...process.env, NO_COLOR: "1", ...env },
      // The last is PROGRESS: this program's own standard error.
      stdio: ["ignore", "pipe", "pipe", 2],
    });
    const stop = (signal: NodeJS.Signals): void => {
      child.kill(signal);
      process.exitCode = 1;
    };
    process.once("SIGTERM", stop).once("SIGINT", stop);
    const chunks: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (chunk: string) => chunks.push(chunk));
    child.on("error", (error) => chunks.push(String(error)));
    let processorSeconds = 0;
    // The kernel adds a child's time to this process's when the child is waited for, just before this event.
    child.on("exit", () => {
      processorSeconds = childProcessorSeconds() - childSeconds;
      childSeconds += processorSeconds;
    });
    child.on("close", (code) => {
      process.off("SIGTERM", stop).off("SIGINT", stop);
      resolve({ code: code ?? 1, output: stripVTControlCharacters(chunks.join("")), processorSeconds });
    });
  });
}

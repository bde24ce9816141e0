/**
 * `npm run bench [-- NAME…] [--json] [--update]`: what Coffer does beside its peers, in turns, as ratios that are compared with those of
 * baseline.json. Ends with 1 if one of them is worse than there by more than the spread of both. `--update` writes what was measured there.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { commandLine } from "./command-line.ts";
import { metadata } from "./metadata.ts";
import { compare, median, ratioOf, type Baseline, type Benchmark, type Comparison, type Outcome } from "./ratio.ts";
import { smallFiles } from "./small-files.ts";
import { sync } from "./sync.ts";
import { toolServer } from "./tool-server.ts";
import { transfers } from "./transfers.ts";
import { webhooks } from "./webhooks.ts";

const BASELINE = new URL("baseline.json", import.meta.url);

const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  transfers,
  "small-files": smallFiles,
  metadata,
  webhooks,
  "tool-server": toolServer,
  "command-line": commandLine,
  sync,
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "boolean", default: false }, update: { type: "boolean", default: false } },
});
const unknown = positionals.filter((name) => !(name in BENCHMARKS));
if (unknown.length > 0) refuse(`Unknown: ${unknown.join(", ")}. There are: ${Object.keys(BENCHMARKS).join(", ")}.`);
if (process.platform !== "linux") refuse("The benchmarks need Linux: they read /proc.");

let baseline = JSON.parse(readFileSync(BASELINE, "utf8")) as Baseline;
const results: object[] = [];
for (const [name, benchmark] of Object.entries(BENCHMARKS)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const outcome = await benchmark();
  report(name, outcome);
  if (values.update) update(name, outcome);
}
if (values.json) console.log(JSON.stringify(results, null, 2));

function report(name: string, { comparisons, skipped = [], facts = {} }: Outcome): void {
  for (const comparison of comparisons) {
    const { title, better } = comparison;
    const now = ratioOf(comparison);
    const before = baseline[name]?.[title];
    const verdict = compare(better, now, before);
    if (verdict === "worse" && !values.update) process.exitCode = 1;
    results.push({ benchmark: name, verdict, now, before: before ?? null, ...comparison });
    if (values.json) continue;
    const spread = `${String(now.ratio)} (${String(now.from)} to ${String(now.to)})`;
    const earlier =
      before === undefined
        ? "not in the baseline"
        : `was ${String(before.ratio)} (${String(before.from)} to ${String(before.to)})`;
    console.log(`${verdict.toUpperCase().padEnd(6)} ${name}: ${title}: ${spread}, ${better} is better; ${earlier}`);
    console.log(`         ${renderSeries(comparison)}`);
  }
  for (const { title, reason } of skipped) {
    results.push({ benchmark: name, verdict: "skipped", title, reason });
    if (!values.json) console.log(`SKIP   ${name}: ${title}: ${reason}`);
  }
  if (Object.keys(facts).length > 0) results.push({ benchmark: name, facts });
  if (!values.json) for (const [title, fact] of Object.entries(facts)) console.log(`       ${name}: ${title}: ${fact}`);
}

function renderSeries({ ours, peer, unit }: Comparison): string {
  const short = (series: readonly number[]): string => String(Number(median(series).toPrecision(3)));
  return `ours ${short(ours)} ${unit}, the peer ${short(peer)} ${unit}: medians of ${String(ours.length)}`;
}

/** What was skipped keeps its ratio. */
function update(name: string, { comparisons, skipped = [] }: Outcome): void {
  const kept = skipped.flatMap(({ title }) => {
    const ratio = baseline[name]?.[title];
    return ratio === undefined ? [] : [[title, ratio] as const];
  });
  const measured = comparisons.map((comparison) => [comparison.title, ratioOf(comparison)] as const);
  baseline = { ...baseline, [name]: Object.fromEntries([...measured, ...kept]) };
  writeFileSync(BASELINE, `${JSON.stringify(baseline, null, 2)}\n`);
}

function refuse(reason: string): never {
  console.error(reason);
  process.exit(2);
}

/**
 * `npm run fuzz [-- --count N] [--seed S] [--url U]`: without a URL it starts a server of its own.
 * With one: a development server whose data nobody needs, as requests without a credential act as its first user.
 */
import { parseArgs } from "node:util";
import { runFuzz, type FuzzReport } from "./run.ts";
import { openFuzzSubject } from "./subject.ts";

const values = readWords();
const seed = values.seed === undefined ? (Date.now() ^ process.pid) >>> 0 : Number(values.seed);
const count = Number(values.count);
if (!Number.isSafeInteger(seed) || !Number.isSafeInteger(count) || count < 1) showUsage();
console.log(`fuzz: ${String(count)} requests, seed ${String(seed)}`);
if (values.url === undefined) {
  await using subject = await openFuzzSubject();
  print(await runFuzz({ ...subject, count, seed }));
} else print(await runFuzz({ baseUrl: values.url, count, seed }));

function print(report: FuzzReport): void {
  for (const [operation, outcomes] of [...report.outcomes].sort()) {
    const parts = [...outcomes]
      .sort(([left], [right]) => left.localeCompare(right))
      .map(([outcome, times]) => `${outcome}: ${String(times)}`);
    console.log(`${operation.padEnd(20)} ${parts.join(", ")}`);
  }
  for (const finding of report.findings) console.log(`FINDING ${finding}`);
  console.log(`${String(report.sent)} requests sent, ${String(report.findings.length)} findings`);
  process.exitCode = report.findings.length === 0 ? 0 : 1;
}

function readWords() {
  try {
    return parseArgs({
      options: { count: { type: "string", default: "20000" }, seed: { type: "string" }, url: { type: "string" } },
    }).values;
  } catch {
    return showUsage();
  }
}

function showUsage(): never {
  console.error("usage: npm run fuzz [-- --count N] [--seed S] [--url URL]");
  process.exit(2);
}

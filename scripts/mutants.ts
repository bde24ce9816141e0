// `npm run mutants -- --base REV [--most 80] [--seed 1]`: changes one line of the sources at a time, once in the tree
// of REV and once in that of HEAD. Each time it runs the test file beside it. Tests must notice at HEAD what they
// noticed at REV. It prints a row for each, and exits with 1 where a test was lost. It works in trees of its own,
// which it sets up and removes. Rows on standard output, progress on standard error.
import { spawn } from "node:child_process";
import { hash } from "node:crypto";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { checkOut } from "./check-out.ts";

/** What a slip of the hand makes of a line. */
const SLIPS: readonly (readonly [RegExp, string])[] = [
  [/ === /, " !== "],
  [/ !== /, " === "],
  [/ >= /, " < "],
  [/ <= /, " > "],
  [/ < /, " >= "],
  [/ && /, " || "],
  [/ \|\| /, " && "],
  [/\btrue\b/, "false"],
  [/\bfalse\b/, "true"],
  [/\.every\(/, ".some("],
  [/\.some\(/, ".every("],
  [/ \+ 1\b/, " + 2"],
  [/^(\s+)throw /, "$1void "],
];
/** Words about code, and types, are not run. */
const NOT_RUN = /^\s*(?:\/\/|\/?\*|import |export (?:type|interface) |(?:readonly )?[\w"]+\??: [\w" |]+;$)/;

/** What has not ended by then never will. */
const LONGEST_MS = 90_000;

interface Mutant {
  /** A line of the source, at REV. */
  readonly file: string;
  readonly line: string;
  readonly changed: string;
}

const { values } = parseArgs({
  options: { base: { type: "string" }, most: { type: "string" }, seed: { type: "string" } },
});
if (values.base === undefined) throw new Error("Name the commit to compare with: --base REV");
const most = Number(values.most ?? 80);
process.exitCode = (await compare(values.base, values.seed ?? "1")) ? 0 : 1;

async function compare(base: string, seed: string): Promise<boolean> {
  using trees = new DisposableStack();
  const before = trees.use(checkOut(base)).path;
  const after = trees.use(checkOut("HEAD")).path;
  const places = new Map(sourcesOf(after).map((file) => [file, readFileSync(path.join(after, file), "utf8")]));
  const counts = { red: 0, lost: 0, green: 0 };
  const mutants = sourcesOf(before).flatMap((file) => mutantsOf(before, file));
  for (const mutant of mutants.sort(byHash(seed))) {
    if (counts.red + counts.lost >= most) break;
    const place = findPlace(places, mutant);
    if (place === null) continue;
    const [was, still] = await Promise.all([isNoticed(before, mutant.file, mutant), isNoticed(after, place, mutant)]);
    if (!was) {
      counts.green += 1;
      continue;
    }
    counts[still ? "red" : "lost"] += 1;
    console.log(`${still ? "red" : "LOST"}\t${place}\t${mutant.changed.trim()}`);
    process.stderr.write(`${String(counts.red + counts.lost)} of ${String(most)}\n`);
  }
  const { red, lost, green } = counts;
  console.log(
    `${String(red)} noticed before and now, ${String(lost)} lost, ${String(green)} never noticed by the test beside them`,
  );
  return lost === 0 && red >= most;
}

/** Those with a test file beside them. */
function sourcesOf(tree: string): string[] {
  const tests = globSync(["packages/*/src/**/*.test.ts", "server/src/**/*.test.ts"], { cwd: tree });
  return tests.map((test) => test.replace(/\.test\.ts$/, ".ts")).filter((file) => existsSync(path.join(tree, file)));
}

function mutantsOf(tree: string, file: string): Mutant[] {
  const lines = readFileSync(path.join(tree, file), "utf8").split("\n");
  return lines.flatMap((line) => {
    const slip = NOT_RUN.test(line) ? undefined : SLIPS.find(([found]) => found.test(line));
    const isAlone = lines.indexOf(line) === lines.lastIndexOf(line);
    return slip !== undefined && isAlone ? [{ file, line, changed: line.replace(...slip) }] : [];
  });
}

/** Where the line is now: in the file of that name which holds it once. */
function findPlace(places: ReadonlyMap<string, string>, { file, line }: Mutant): string | null {
  const holders = [...places].filter(([, text]) => text.split("\n").filter((other) => other === line).length === 1);
  return holders.find(([other]) => path.basename(other) === path.basename(file))?.[0] ?? null;
}

async function isNoticed(tree: string, file: string, { line, changed }: Mutant): Promise<boolean> {
  const source = path.join(tree, file);
  const text = readFileSync(source, "utf8");
  const test = file.replace(/\.ts$/, ".test.ts");
  writeFileSync(
    source,
    text.replace(line, () => changed),
  );
  try {
    return (await run(tree, test)) !== 0;
  } finally {
    writeFileSync(source, text);
  }
}

/** A mutant may never end: its processes are ended together. */
function run(cwd: string, test: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const args = ["node_modules/vitest/vitest.mjs", "run", test, "--maxWorkers=1"];
    const child = spawn("node_modules/.bin/node", args, { cwd, stdio: "ignore", detached: true });
    const end = setTimeout(() => process.kill(-(child.pid ?? Number.NaN), "SIGKILL"), LONGEST_MS);
    child.on("error", reject).on("close", (code) => {
      clearTimeout(end);
      resolve(code ?? 1);
    });
  });
}

/** The same order for the same seed. */
function byHash(seed: string): (one: Mutant, other: Mutant) => number {
  const hashOf = ({ file, line }: Mutant): string => hash("sha256", `${seed}\n${file}\n${line}`);
  return (one, other) => (hashOf(one) < hashOf(other) ? -1 : 1);
}

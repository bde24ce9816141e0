// Does what a reader does with the pages: `npm run check:pages`. It copies the tree, pastes `npm start`, and then each block of the README and
// of a fifth of the other pages, drawn by a seed that it prints, as it stands, in order: a home directory and a terminal for each page, one stack
// for all. `--seed N` draws the same pages again; with `--all` it reads every page, and runs what takes longer than two minutes, too.
// What `npm start` itself prints is run by test/start.test.ts. Nothing is adapted. Blocks that are not run say why (`<!-- not run: REASON -->`); the
// last line counts them. Words after `--` choose pages by parts of their names.
import { hash, randomInt } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { PLACEHOLDER, printedCommands } from "@coffer/cli/printed-commands";
import { makeClone, readersEnvironment } from "./pages/clone.ts";
import { commentPrograms } from "./pages/comment-examples.ts";
import {
  blocksOf,
  goneTests,
  PAGES,
  REASONS,
  ROOT,
  unseenFences,
  wrongReferences,
  type Block,
  type NotRun,
} from "./pages/documents.ts";
import { programsOf, typeProblems, type Program } from "./pages/programs.ts";
import { PasteError, Terminal } from "./pages/terminal.ts";

/** Commands that serve until they are stopped, and what they say when they are ready. */
const SERVING = [
  { command: /^npm start$/, ready: /up until Ctrl-C/ },
  { command: /\bnpm run server(?: -- --env-file \S+)?\)?$/, ready: /coffer-server listens on/ },
  { command: /^npm run localnet\b/, ready: /"grpcUrl"/ },
  { command: /\bcoffer-mcp --http\b/, ready: /listening at/ },
] as const;
/** What is done once for all pages: the stack, here, and what stages of `npm run test:deep` do on the same sources. */
const ONCE = ["npm start", "npm run build", "npm run bundle:mcp"];
/** What takes longer is marked on its page, and is left to the nightly tests. */
const TWO_MINUTES_MS = 120_000;
const NIGHTLY_MS = 1_800_000;
const FAILED = "the printed command failed with";
/** It wants an answer, and nobody is at the terminal. */
const ASKED = /^next: (?:run it in a terminal|pass --)/m;
/** Proves in every run that a wrong program is noticed. */
const BROKEN: Program = { place: "a program that must not compile", code: "const n: number = 'one';\n", blocks: [] };

/** Of the pages beside the README, one in so many is read unless all are asked for. */
const PART = 5;

const { values, positionals: chosen } = parseArgs({
  options: { all: { type: "boolean", default: false }, seed: { type: "string" } },
  allowPositionals: true,
});
const { all } = values;
const seed = values.seed ?? String(randomInt(1_000_000));
const problems: string[] = [];
const left: NotRun[] = [];
/** Why printed commands were not run. test/cli/first-hours.test.ts runs what somebody else runs, and answers questions. */
const leftPrinted: string[] = [];
let ran = 0;
const began = performance.now();
const pages = ["README.md", ...PAGES.filter((page) => page !== "README.md")].map((page) => ({
  page,
  blocks: blocksOf(page),
}));
const read = new Set(chosenPages());
const scratch = mkdtempSync(path.join(tmpdir(), "coffer-pages-"));
const clone = path.join(scratch, "coffer");
const programs = path.join(scratch, "bin");
/** Ends in order: what a reader started is stopped, and nothing of it is left. The second signal ends at once. */
const stop = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const)
  process.on(name, () => (stop.signal.aborted ? process.exit(1) : stop.abort(new Error(`stopped by ${name}`))));
try {
  checkReferences();
  const checked = checkTypes();
  makeClone(clone);
  mkdirSync(programs);
  symlinkSync(process.execPath, path.join(programs, "node"));
  await using stack = openTerminal("stack");
  const printed = await stack.pasteServing("npm start", /up until Ctrl-C/);
  const source = sourceLine(printed);
  for (const { page, blocks } of pages)
    if (stop.signal.aborted) break;
    else if (read.has(page)) await readPage(page, blocks, source);
  await checked;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
for (const problem of problems) say("FAILED", problem);
say("note:", `${String(read.size)} of ${String(pages.length)} pages were read (seed ${seed}); --all reads every page`);
const counts = REASONS.map((reason) => `${reason} ${String(left.filter((each) => each.reason === reason).length)}`);
say("in all", `${String(problems.length)} problems in ${String(pages.length)} pages, ${seconds(began)} s`);
say(
  "note:",
  `${String(ran)} blocks and printed commands ran, ${String(left.length)} blocks not (${counts.join(", ")})`,
);
const byReason = Object.entries(Object.groupBy(leftPrinted, (reason) => reason));
const printedCounts = byReason.map(([reason, each]) => `${reason} ${String(each?.length ?? 0)}`);
say("note:", `${String(leftPrinted.length)} printed commands not (${printedCounts.join(", ")})`);
process.exitCode = problems.length === 0 ? 0 : 1;

function chosenPages(): string[] {
  const names = pages.filter(({ blocks }) => blocks.length > 0).map(({ page }) => page);
  if (chosen.length > 0) return names.filter((page) => chosen.some((word) => page.includes(word)));
  if (all) return names;
  const drawn = names.filter((page) => page !== "README.md").toSorted((a, b) => compare(rank(a), rank(b)));
  return ["README.md", ...drawn.slice(0, Math.ceil(drawn.length / PART))];
}

function rank(page: string): string {
  return hash("sha256", `${seed} ${page}`);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : 1;
}

function checkReferences(): void {
  const { scripts } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as { scripts: object };
  for (const { page, blocks } of pages) {
    problems.push(...blocks.flatMap(goneTests), ...unseenFences(page), ...wrongReferences(page, Object.keys(scripts)));
    for (const { place, language, notRun } of blocks)
      if (!["ts", "sh"].includes(language) && notRun === null)
        problems.push(`${place}: a block of "${language}" cannot be run: mark it with the reason`);
  }
}

async function checkTypes(): Promise<void> {
  const typed = [...pages.flatMap(({ blocks }) => programsOf(blocks)), ...commentPrograms()];
  const found = await typeProblems([...typed, BROKEN], stop.signal);
  const real = found.filter((problem) => !problem.includes(BROKEN.place));
  if (real.length === found.length) problems.push("the type check noticed no wrong program: it checks nothing");
  problems.push(...real);
  say("types", `${String(typed.length)} programs compile`);
}

function openTerminal(name: string): Terminal {
  stop.signal.throwIfAborted();
  const env = readersEnvironment(path.join(scratch, name), programs);
  return new Terminal(clone, env, all ? NIGHTLY_MS : TWO_MINUTES_MS, stop.signal);
}

/** The line that `npm start` printed for other shells. */
function sourceLine(printed: string): string {
  const [line] = /^\. '\/.+$/m.exec(printed) ?? [];
  if (line === undefined) throw new Error(`npm start printed no line for other shells:\n${printed}`);
  return line;
}

/** The next steps that a block printed, as they stand, where the reader stands. */
async function pastePrinted(
  { place }: Block,
  printed: string,
  terminal: Terminal,
  pasted: ReadonlySet<string>,
): Promise<void> {
  for (const { after, before, isName, line, problem, words } of await printedCommands(printed)) {
    // A help text has a comment behind an example.
    if (isName || /^ +#/.test(after)) continue;
    const where = `${place}: printed: ${line}`;
    if (problem !== null) problems.push(`${where}: ${problem}`);
    else if (words.some((word) => PLACEHOLDER.test(word))) skipPrinted(where, "the reader's choice");
    else if (pasted.has(words.join(" "))) skipPrinted(where, "on the page itself");
    // With the name of the program there, which the reader has not.
    else if (/^ +$|\| $/.test(before) && line.startsWith("coffer ")) skipPrinted(where, "somebody else's");
    else await attempt(where, async () => await pasteCommand(line, where, terminal));
  }
}

async function pasteCommand(line: string, where: string, terminal: Terminal): Promise<void> {
  // A failure must not end the shell of the page.
  const said = await terminal.paste(`{ ${line}\n} || echo "${FAILED} $?"`);
  if (!said.includes(FAILED)) return;
  if (!ASKED.test(said)) throw new PasteError(`failed:\n${line}\n${said}`);
  skipPrinted(where, "asks a person");
}

function skipPrinted(where: string, reason: string): void {
  leftPrinted.push(reason);
  say("not run", `${where}: ${reason}`);
}

/** A home directory and a terminal of its own; a block after one that failed is not tried, as a reader would not. */
async function readPage(page: string, blocks: readonly Block[], source: string): Promise<void> {
  const typed = programsOf(blocks);
  const code = blocks.filter(({ language, notRun }) => language === "sh" && notRun === null).map((block) => block.code);
  const pasted = new Set((await printedCommands(code.join("\n"))).map(({ words }) => words.join(" ")));
  const name = page.replaceAll(/\W+/g, "-");
  await using terminal = openTerminal(`home-${name}`);
  let isSourced = false;
  for (const block of blocks) {
    skip(block);
    if (block.notRun !== null && !(all && block.notRun.reason === "longer than two minutes")) continue;
    if (block.isSourced && !isSourced) {
      isSourced = true;
      await terminal.paste(source);
    }
    const isWell = await attempt(block.place, async () => {
      if (block.language === "ts")
        await runPrograms(
          typed.filter(({ blocks: parts }) => parts.at(-1) === block),
          terminal,
        );
      else await pasteShell(block, terminal, pasted);
    });
    if (!isWell) return;
  }
}

function skip({ place, notRun, linesNotRun }: Block): void {
  for (const each of [...(notRun === null ? [] : [notRun]), ...linesNotRun]) {
    left.push(each);
    say("not run", `${place}: ${each.reason}${each.detail === "" ? "" : `: ${each.detail}`}`);
  }
}

/** Saved where the reader stands, and run with Node. */
async function runPrograms(typed: readonly Program[], terminal: Terminal): Promise<void> {
  for (const { place, code } of typed) {
    const file = `${place.replaceAll(/\W+/g, "-")}.ts`;
    await terminal.paste(`cat >${file} <<'END OF THE PROGRAM'\n${code}\nEND OF THE PROGRAM`);
    await terminal.paste(`node ${file}`);
  }
}

async function pasteShell(block: Block, terminal: Terminal, pasted: ReadonlySet<string>): Promise<void> {
  const marked = new Set(block.linesNotRun.map(({ line }) => line));
  const lines = block.code.split("\n").filter((line) => !marked.has(line) && !isDone(line));
  const serving = SERVING.find(({ command }) => lines.some((line) => command.test(withoutComment(line))));
  if (serving === undefined) await pastePrinted(block, await terminal.paste(lines.join("\n")), terminal, pasted);
  else if (lines.filter((line) => line.trim() !== "").length > 1)
    throw new Error("a command that serves until it is stopped is in a block with others, which it keeps from running");
  else {
    await terminal.pasteServing(lines.join("\n"), serving.ready);
    await terminal.interrupt();
  }
}

function isDone(line: string): boolean {
  return ONCE.includes(withoutComment(line));
}

function withoutComment(line: string): string {
  return line.replace(/\s+#.*/, "");
}

async function attempt(place: string, work: () => Promise<unknown>): Promise<boolean> {
  const start = performance.now();
  try {
    await work();
    ran += 1;
    say("ran", `${place} in ${seconds(start)} s`);
    return true;
  } catch (error) {
    problems.push(`${place}: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`);
    return false;
  }
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(1);
}

function say(what: string, text: string): void {
  process.stdout.write(`${what.padEnd(8)}${text}\n`);
}

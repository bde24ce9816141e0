// Checks what people paste from the pages: `npm run docs:check`, and with `--all` also the slow parts (`npm start`,
// builds). It type-checks TypeScript in one program and runs it against one stack. It runs shell blocks (twice but for
// the slow ones), parses JSON, and checks that links and named scripts exist. It lists blocks marked with
// `<!-- not run: REASON -->` with their reason.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { blocksOf, goneTests, PAGES, ROOT, unseenFences, wrongReferences, type Block } from "./docs/documents.ts";
import { openGiven, type Given } from "./docs/given.ts";
import { commentBlocks, ProgramBlocks } from "./docs/program-blocks.ts";
import { isSlow, runShell, shellFor } from "./docs/shell-blocks.ts";

const ALL = process.argv.includes("--all");
/** Proves in every run that a wrong block is noticed. */
const BROKEN: Block = {
  ...{ place: "a block that must not compile", language: "ts", code: "const n: number = client.baseUrl;\n" },
  ...{ notRun: null, linesNotRun: [] },
};
/** A program block that hangs fails. */
const PATIENCE_MS = 60_000;

const problems: string[] = [];
const began = performance.now();
const blocks = PAGES.flatMap((page) => blocksOf(page));
const scratch = mkdtempSync(path.join(tmpdir(), "coffer-docs-"));
const back = process.cwd();
try {
  checkReferences();
  checkJson();
  checkLanguages();
  const programs = blocks.filter(({ language }) => language === "ts");
  using modules = new ProgramBlocks([...programs, ...commentBlocks(), BROKEN]);
  const checked = checkTypes(modules);
  await using given = await openGiven();
  // One kind after the other: what a program leaves is put into the trash, and would take what a shell has just stored with it.
  for (const block of blocks.filter(({ language }) => language === "sh")) await runShellBlock(block, given);
  await runPrograms(programs, modules, given);
  await checked;
} finally {
  process.chdir(back);
  rmSync(scratch, { recursive: true, force: true });
}
for (const problem of problems) say("FAILED", problem);
say("in all", `${String(problems.length)} problems in ${String(PAGES.length)} pages, ${seconds(began)} s`);
process.exitCode = problems.length === 0 ? 0 : 1;
// Clients of blocks may go on trying to reach the stack, which has ended.
process.exit();

function checkReferences(): void {
  const { scripts } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as { scripts: object };
  let commands = 0;
  problems.push(...blocks.flatMap(goneTests));
  for (const page of PAGES) {
    const found = wrongReferences(page, Object.keys(scripts));
    problems.push(...found.problems, ...unseenFences(page));
    commands += found.commands;
  }
  say("named", `${String(commands)} commands exist, links lead somewhere`);
}

function checkJson(): void {
  const parsed = blocks.filter(({ language }) => language === "json");
  for (const { place, code } of parsed) {
    try {
      JSON.parse(code);
    } catch (error) {
      problems.push(`${place}: ${String(error)}`);
    }
  }
  say("parsed", `${String(parsed.length)} JSON blocks`);
}

function checkLanguages(): void {
  for (const { place, language, notRun } of blocks)
    if (!["ts", "sh", "json"].includes(language) && notRun === null)
      problems.push(`${place}: a block of "${language}" cannot be checked: mark it with the reason`);
}

async function checkTypes(modules: ProgramBlocks): Promise<void> {
  const found = await modules.problems();
  const real = found.filter((problem) => !problem.includes(BROKEN.place));
  if (real.length === found.length) problems.push("the type check noticed no wrong block: it checks nothing");
  problems.push(...real);
  say(
    "types",
    `${String(blocks.filter(({ language }) => language === "ts").length + commentBlocks().length)} blocks compile`,
  );
}

async function runPrograms(programs: readonly Block[], modules: ProgramBlocks, given: Given): Promise<void> {
  const folder = path.join(scratch, "programs");
  mkdirSync(folder);
  process.env["SERVICE_CONFIG_FILE"] = given.stack.credentialsFile;
  process.env["SERVICE_CONFIG_DIR"] = path.join(scratch, "config-of-programs");
  process.env["SERVICE_API_KEY"] = given.stack.apiKey;
  process.chdir(folder);
  // What blocks print is for their reader.
  console.log = () => undefined;
  for (const block of programs) {
    if (block.notRun !== null) say("not run", `${block.place}: ${block.notRun}`);
    else {
      writeFileSync("report.pdf", "%PDF-1.7 a report\n");
      mkdirSync("reports", { recursive: true });
      writeFileSync("reports/march.txt", "a report\n");
      rmSync("copy.pdf", { force: true });
      await attempt(block, () => modules.run(block, given));
      await given.clean();
    }
  }
}

async function runShellBlock(block: Block, given: Given): Promise<void> {
  for (const { line, reason } of block.linesNotRun) say("not run", `${block.place}: ${line.trim()}: ${reason}`);
  if (block.notRun !== null) say("not run", `${block.place}: ${block.notRun}`);
  else if (isSlow(block) && !ALL) say("not run", `${block.place}: takes long; docs:check --all runs it`);
  else await attempt(block, () => runShell(block, shellFor(given, scratch), timesOf(block)));
}

/** Again shows that a block can be pasted twice. The slow ones have no time for it. */
function timesOf(block: Block): number {
  return isSlow(block) || (!ALL && block.code.includes("npm")) ? 1 : 2;
}

async function attempt({ place }: Block, work: () => Promise<void>): Promise<void> {
  const start = performance.now();
  let late: NodeJS.Timeout | undefined;
  const end = new Promise<never>((_, reject) => {
    late = setTimeout(() => reject(new Error("did not end")), ALL ? 5 * PATIENCE_MS : PATIENCE_MS);
  });
  try {
    await Promise.race([work(), end]);
    say("ran", `${place} in ${seconds(start)} s`);
  } catch (error) {
    problems.push(`${place}: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`);
  } finally {
    clearTimeout(late);
  }
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(1);
}

function say(what: string, words: string): void {
  process.stdout.write(`${what.padEnd(8)}${words}\n`);
}

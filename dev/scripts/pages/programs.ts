/** TypeScript of the pages: whole programs, and blocks that go on after those above them. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { ROOT, type Block } from "./documents.ts";

export interface Program {
  readonly place: string;
  /** What a reader has in one file after pasting the blocks one below the other. */
  readonly code: string;
  /** The last is the one at which it is run. */
  readonly blocks: readonly Block[];
}

/**
 * The programs of a page. Under one heading a block goes on after those above it, and after those directly under the headings around it:
 * what such a heading says first holds for all of its parts. A program is as long as it gets, so each block is in one that runs.
 */
export function programsOf(blocks: readonly Block[]): Program[] {
  const typed = blocks.filter(({ language, notRun }) => language === "ts" && notRun === null);
  return typed.flatMap((block, at) => {
    const later = typed.slice(at + 1);
    if (later.some(({ headings }) => goesOnAfter(headings, block.headings))) return [];
    const above = typed.slice(0, at).filter(({ headings }) => goesOnAfter(block.headings, headings));
    const parts = [...above, block];
    return [{ place: block.place, code: parts.map(({ code }) => code).join("\n"), blocks: parts }];
  });
}

function goesOnAfter(headings: readonly string[], above: readonly string[]): boolean {
  return above.length <= headings.length && above.every((title, level) => headings[level] === title);
}

/** What the compiler says of the programs, each with its place. They are below node_modules, where they find packages as a program of the repository does. */
export async function typeProblems(programs: readonly Program[], signal: AbortSignal): Promise<string[]> {
  const cache = path.join(ROOT, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(path.join(cache, "pages-"));
  try {
    const files = programs.map(({ code }, index) => {
      const name = `program-${String(index)}.ts`;
      writeFileSync(path.join(directory, name), `${code}\nexport {};\n`);
      return name;
    });
    return (await compile(directory, files, signal)).map((line) =>
      line.replace(/^.*?program-(\d+)\.ts\(\d+,\d+\)/, (_, index: string) => programs[Number(index)]?.place ?? ""),
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function compile(directory: string, files: readonly string[], signal: AbortSignal): Promise<string[]> {
  const compilerOptions = {
    noUnusedLocals: false,
    allowUnreachableCode: true,
    typeRoots: [path.join(ROOT, "node_modules/@types")],
  };
  const config = path.join(directory, "tsconfig.json");
  const extended = path.join(ROOT, "tsconfig.json");
  writeFileSync(config, JSON.stringify({ extends: extended, compilerOptions, include: [], exclude: [], files }));
  const compiler = path.join(ROOT, "node_modules", "typescript-native", "bin", "tsc");
  const args = [compiler, "-p", config, "--pretty", "false"];
  const said = await promisify(execFile)(process.execPath, args, { cwd: directory, maxBuffer: 1 << 26, signal }).then(
    () => "",
    (error: unknown) => (error as { readonly stdout: string }).stdout || String(error),
  );
  return said.split("\n").filter((line) => /error/.test(line));
}

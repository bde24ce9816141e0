/** Runs the story with the built program in real pseudo-terminals, against a stack of its own, and writes down what the terminals show. */
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { startStack } from "@coffer/devstack";
import { runInTerminal } from "../../../test/kit/coffer-program.ts";
import { Mask } from "./mask.ts";
import { FILES, STORY, type Person, type Step } from "./story.ts";

const PROGRAM = path.join(import.meta.dirname, "../../../packages/cli/dist/main.js");
/** The terminals have this size. */
export const SIZE = { columns: 100, rows: 30 };

/** A step that was played, as it may be shown to everybody. */
export interface Played {
  readonly person: Person;
  readonly says: string | undefined;
  readonly line: string;
  /** What was on the screen after the line was entered. */
  readonly screen: string;
}

/** @throws when a line ends with something else than 0. */
export async function play(): Promise<Played[]> {
  const root = mkdtempSync(path.join(tmpdir(), "coffer-recording-"));
  try {
    await using stack = await startStack();
    const mask = new Mask([
      [stack.baseUrl, "http://127.0.0.1:8787"],
      [path.join(root, "ada"), "/home/ada"],
      [path.join(root, "bot"), "/home/bot"],
    ]);
    const bin = programsIn(root);
    const homes = Object.keys(FILES) as Person[];
    for (const person of homes) furnish(path.join(root, person), FILES[person]);
    copyFileSync(stack.networkFile, path.join(root, "ada", "network.json"));
    const played: Played[] = [];
    let login = "";
    for (const step of STORY) {
      const line = step.line.replace("{login}", login).replace("http://127.0.0.1:8787", stack.baseUrl);
      const screen = await inTerminal({ ...step, line }, path.join(root, step.person), bin);
      login = /^\s*(echo \S+ \| coffer login .*?)\s*$/m.exec(screen)?.[1] ?? login;
      played.push({ person: step.person, says: step.says, line: mask.hide(line), screen: mask.hide(screen) });
    }
    return played;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** `coffer` as npm links it. */
function programsIn(root: string): string {
  const bin = path.join(root, "bin");
  mkdirSync(bin);
  writeFileSync(path.join(bin, "coffer"), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
  chmodSync(path.join(bin, "coffer"), 0o755);
  return bin;
}

function furnish(home: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(home, name)), { recursive: true });
    writeFileSync(path.join(home, name), text);
  }
}

async function inTerminal({ line, answers = [] }: Step, home: string, bin: string): Promise<string> {
  const { code, screen } = await runInTerminal(
    ["-c", `stty cols ${String(SIZE.columns)} rows ${String(SIZE.rows)}; ${line}`],
    {
      program: ["sh"],
      cwd: home,
      typed: answers.map((answer) => ({ after: "[y/N] ", types: `${answer}\n` })),
      env: { PATH: `${bin}:${process.env["PATH"] ?? ""}`, HOME: home, TERM: "xterm-256color" },
    },
  );
  if (code !== 0) throw new Error(`${line}: ended with ${String(code)}\n${screen}`);
  return screen;
}

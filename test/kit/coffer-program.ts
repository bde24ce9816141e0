/** Runs `coffer` as a program of its own: piped, or in a pseudo-terminal. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { buffer } from "node:stream/consumers";

/** The program and the arguments before those of `coffer`: what the set-up builds of the present sources. */
export const COFFER: readonly [string, ...string[]] = [
  process.execPath,
  fileURLToPath(new URL("../../packages/cli/dist/main.js", import.meta.url)),
];

export interface ProgramRan {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface ProgramSituation {
  /** All of its environment but PATH. */
  readonly env: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
  readonly cwd?: string;
  /** Default: `COFFER`. */
  readonly program?: readonly [string, ...string[]];
  /** Gets SIGINT once this is on its standard output. */
  readonly interruptedAfter?: string;
}

/** The superuser's right to open what no mode allows is gone: EACCES is EACCES. By setpriv(1) of util-linux. */
export const WITHOUT_OVERRIDE: readonly [string, ...string[]] =
  process.getuid?.() === 0
    ? [
        "setpriv",
        "--inh-caps=-dac_override,-dac_read_search",
        "--bounding-set=-dac_override,-dac_read_search",
        ...COFFER,
      ]
    : COFFER;

export async function runProgram(words: readonly string[], situation: ProgramSituation): Promise<ProgramRan> {
  const { env, input = "", cwd, program = COFFER, interruptedAfter } = situation;
  const [command, ...args] = program;
  const child = spawn(command, [...args, ...words], { env: { PATH: process.env["PATH"], ...env }, cwd });
  child.stdin.end(input);
  if (interruptedAfter !== undefined) {
    let seen = "";
    const look = (piece: Buffer): void => {
      seen += piece.toString("utf8");
      if (!seen.includes(interruptedAfter)) return;
      child.stdout.off("data", look);
      child.kill("SIGINT");
    };
    child.stdout.on("data", look);
  }
  const ended = new Promise<number>((resolve) => child.once("exit", (code) => resolve(code ?? 130)));
  const [out, err] = await Promise.all([buffer(child.stdout), buffer(child.stderr)]);
  return { code: await ended, out: out.toString("utf8"), err: err.toString("utf8") };
}

/** What somebody types once the text is on the screen. */
export interface Typed {
  readonly after: string | RegExp;
  /** A function gets the screen so far. */
  readonly types: string | ((screen: string) => Promise<string>);
}

export interface TerminalRan {
  /** The program's own exit code. */
  readonly code: number;
  /** Everything that was on the screen: output, progress and prompts. */
  readonly screen: string;
}

/** Where the text ends on the screen. null: it is not there. */
function endOf(text: string | RegExp, screen: string, from: number): number | null {
  const shown = screen.slice(from);
  const found = typeof text === "string" ? text : text.exec(shown)?.[0];
  const at = found === undefined ? -1 : shown.indexOf(found);
  return at === -1 ? null : from + at + (found?.length ?? 0);
}

interface TerminalSituation extends ProgramSituation {
  readonly typed?: readonly Typed[];
  /** A line of the shell, run in the same terminal when the program has ended. */
  readonly then?: string;
}

/** In a pseudo-terminal, by script(1) of util-linux. */
export async function runInTerminal(
  words: readonly string[],
  { env, cwd, program = COFFER, typed = [], then }: TerminalSituation,
): Promise<TerminalRan> {
  const quoted = [...program, ...words].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const line = then === undefined ? quoted : `${quoted}; code=$?; ${then}; exit $code`;
  const child = spawn("script", ["-qefc", line, "/dev/null"], {
    env: { PATH: process.env["PATH"], TERM: "xterm", SHELL: "/bin/sh", ...env },
    cwd,
  });
  let screen = "";
  let from = 0;
  const left = [...typed];
  const code = await new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (ended) => resolve(ended ?? 130));
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      screen += text;
      for (let [next] = left; next !== undefined; [next] = left) {
        const end = endOf(next.after, screen, from);
        if (end === null) break;
        from = end;
        const { types } = next;
        left.shift();
        if (typeof types === "string") child.stdin.write(types);
        else void types(screen).then((late) => child.stdin.write(late), reject);
      }
    });
  });
  return { code, screen };
}

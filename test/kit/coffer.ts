/** Runs a command line in this process, in a world of its own. */
import { Readable } from "node:stream";
import { runCoffer, type ExitCode, type OutputStream, type Program, type World } from "@coffer/cli";
import { printedCommands } from "@coffer/cli/printed-commands";

export interface Ran {
  readonly code: ExitCode;
  readonly out: string;
  readonly err: string;
  /** Programs that it would have started. */
  readonly programs: readonly Program[];
}

export interface Situation {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: string | Uint8Array;
  /** Somebody sits at a terminal, and answers these in turn. */
  readonly answers?: readonly string[];
  readonly workingDirectory?: string;
  readonly interrupted?: AbortSignal;
  readonly now?: () => number;
  /** The script that runs. Default: one that is nowhere. */
  readonly script?: string;
  /** How the person runs it. Default: installed. */
  readonly invocation?: string;
  /** What programs that it starts end with. */
  readonly programCode?: number;
  /** Streams that fail at each write, after they took it: nobody reads any more, or the disk is full. */
  readonly broken?: Partial<Record<"stdout" | "stderr", "EPIPE" | "ENOSPC">>;
  /** Instead of `answers`: a person at a terminal, who does this at each question. */
  readonly atQuestion?: (question: string) => Promise<string | null>;
}

/** `home` is where the configuration is kept. Without `answers` there is no terminal. */
export async function coffer(words: readonly string[], home: string, situation: Situation = {}): Promise<Ran> {
  const {
    env = {},
    input = "",
    answers,
    workingDirectory = home,
    interrupted,
    now = Date.now,
    script = "/opt/coffer/main.js",
  } = situation;
  const { atQuestion, broken = {} } = situation;
  const isTerminal = answers !== undefined || atQuestion !== undefined;
  const [out, err] = [sink(isTerminal, broken.stdout), sink(isTerminal, broken.stderr)];
  const left = [...(answers ?? [])];
  const programs: Program[] = [];
  const bytes = typeof input === "string" ? new TextEncoder().encode(input) : input;
  const world: World = {
    env: { HOME: home, ...env },
    platform: "linux",
    workingDirectory,
    stdout: out,
    stderr: err,
    now,
    stdin: {
      // What is redirected is no terminal.
      isTerminal: isTerminal && situation.input === undefined,
      readAll: () => Promise.resolve(bytes),
      pieces: () => Readable.from([bytes]),
    },
    interrupted: interrupted ?? new AbortController().signal,
    self: { command: "/opt/node", args: [script] },
    invocation: situation.invocation ?? "coffer",
    toolServer: null,
    ask: async (question) => {
      // A person's Enter is on the screen, too.
      await err.write(`${question}\n`);
      return atQuestion === undefined ? (left.shift() ?? null) : await atQuestion(question);
    },
    run: async (program) => {
      programs.push(program);
      return situation.programCode ?? 0;
    },
  };
  const code = await runCoffer(words, world);
  await requirePasteable(words, out.text() + err.text());
  return { code, out: out.text(), err: err.text(), programs };
}

/** What it prints to be pasted, the command line takes. Help breaks its sentences anywhere. */
async function requirePasteable(words: readonly string[], printed: string): Promise<void> {
  if (words.some((word) => /^(?:help|-h|--help|--json|--json-lines)$/.test(word))) return;
  for (const { line, problem } of await printedCommands(printed))
    if (problem !== null) throw new Error(`coffer ${words.join(" ")} printed ${JSON.stringify(line)}: ${problem}`);
}

function sink(isTerminal: boolean, broken?: string): OutputStream & { text(): string } {
  const parts: Buffer[] = [];
  return {
    isTerminal,
    columns: 80,
    write: async (data) => {
      parts.push(Buffer.from(data as Uint8Array));
      if (broken !== undefined) throw Object.assign(new Error(`write ${broken}`), { code: broken, syscall: "write" });
    },
    text: () => Buffer.concat(parts).toString("utf8"),
  };
}

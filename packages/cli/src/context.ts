/** What a command is run with: the service, the terminal and the flags of every command. */
import type { Client } from "@coffer/sdk";
import type { Settings } from "@coffer/sdk/node";
import type { Task } from "@coffer/tasks";
import { createRedaction, createSession, type Redaction, type Session } from "@coffer/tasks/start";
import { CommandFailure } from "./failure.ts";
import type { Globals } from "./globals.ts";
import { quietProgress, terminalProgress, type Progress, type Unit } from "./terminal/progress.ts";
import { shownTo } from "./terminal/visible.ts";
import type { Shown } from "./result.ts";
import { APPLICATION } from "./version.ts";
import { SECRET_VARIABLES, type World } from "./world.ts";

export interface Context {
  readonly world: World;
  readonly globals: Globals;
  /** Aborts at Ctrl-C, and when `--timeout` is over. */
  readonly signal: AbortSignal;
  readonly timedOut: AbortSignal;
  readonly redaction: Redaction;
  readonly session: Session;
  /** What the tasks of `@coffer/tasks` are run with. */
  readonly task: Task;
  /** The signed-in client. Throws `signed_out` without credentials. */
  readonly client: () => Promise<Client>;
  readonly settings: () => Promise<Settings>;
  /** A line on standard error, unless --quiet. */
  readonly note: (...parts: readonly Shown[]) => void;
  /** Bytes or text on standard output, for commands that write it themselves. */
  readonly write: (data: string | Uint8Array) => Promise<void>;
  /** One JSON document in a line of its own, for commands that follow something. */
  readonly writeLine: (value: unknown) => Promise<void>;
  /** How far work is, on a terminal; nothing where standard error is none. */
  readonly progress: (title: string, unit?: Unit) => Progress;
  /** How many files a transfer has gone through, for the failure that ends it. */
  readonly gone: { files: number; totalFiles: number };
  /** Goes on when the person agrees. Throws `declined`, or `confirmation_required` where nobody can be asked. */
  readonly confirm: (question: string) => Promise<void>;
  /** A line that a person types. Throws where nobody can be asked: `instead` says what to pass. */
  readonly ask: (question: string, instead: string, hidden?: boolean) => Promise<string>;
  /** All of standard input, for flags such as `--api-key-stdin`. A person types a hidden line for each title instead. */
  readonly readInput: (...titles: readonly string[]) => Promise<string>;
}

export function createContext(world: World, globals: Globals): Context {
  const redaction = createRedaction();
  for (const name of SECRET_VARIABLES) redaction.register(world.env[name]);
  const timedOut = globals.timeout === undefined ? NEVER : AbortSignal.timeout(globals.timeout * 1_000);
  const signal = pausedBy(world.interrupted, timedOut);
  const flags = { profile: globals.profile, baseUrl: globals.baseUrl };
  const say = (text: string): void => void world.stderr.write(`${redaction.redact(text)}\n`);
  const note: Context["note"] = (...parts) => {
    if (!globals.quiet) say(parts.map((part) => shownTo(world, part)).join(""));
  };
  const warn = (message: string): void => note("warning: ", message);
  const application = APPLICATION;
  const session = createSession({
    env: world.env,
    configFile: null,
    flags,
    redaction,
    application,
    warn,
  });
  const task: Task = {
    signal,
    progress: () => undefined,
    client: () => session.client(),
    clientFor: () => session.client(),
    chainAddress: () => session.chainAddress(),
  };
  const write = (data: string | Uint8Array): Promise<void> =>
    world.stdout.write(typeof data === "string" ? redaction.redact(data) : data);
  return {
    world,
    globals,
    signal,
    timedOut,
    redaction,
    session,
    task,
    write,
    note,
    client: () => session.client(),
    settings: async () => {
      const { resolveSettings } = await import("@coffer/sdk/node");
      return await resolveSettings(world.env, flags);
    },
    gone: { files: 0, totalFiles: 0 },
    writeLine: (value) => write(`${JSON.stringify(value)}\n`),
    progress: (title, unit) =>
      globals.quiet || !world.stderr.isTerminal
        ? quietProgress
        : terminalProgress(title, world.stderr, world.now, unit),
    ...questions(world, globals, signal),
  };
}

/** What is begun at the service stays there, for the same line to go on with. */
function pausedBy(...signals: readonly AbortSignal[]): AbortSignal {
  const pause = new AbortController();
  const stop = (): void => pause.abort(new DOMException("Interrupted", "PauseError"));
  for (const signal of signals)
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  return pause.signal;
}

const NEVER = new AbortController().signal;

/** Where nobody can be asked, the failure says what to pass instead. */
function questions(
  world: World,
  globals: Globals,
  signal: AbortSignal,
): Pick<Context, "confirm" | "ask" | "readInput"> {
  const canAsk = world.stdin.isTerminal && world.stderr.isTerminal && !globals.noInput;
  const ask: Context["ask"] = async (question, instead, hidden = false) => {
    const missing = `There is nobody to ask for: ${question}`;
    if (!canAsk) throw new CommandFailure("confirmation_required", { message: missing, nextStep: instead });
    const answer = await world.ask(`${question}: `, hidden, signal);
    if (answer === null) throw new CommandFailure("declined", { message: "Nothing was done" });
    return answer;
  };
  return {
    confirm: async (question) => {
      if (globals.yes) return;
      if (!canAsk) throw new CommandFailure("confirmation_required", { message: `Not confirmed: ${question}` });
      const answer = await world.ask(`${question} [y/N] `, false, signal);
      signal.throwIfAborted();
      if (/^y(es)?$/i.test(answer?.trim() ?? "")) return;
      throw new CommandFailure("declined", { message: "Nothing was done" });
    },
    ask,
    readInput: async (...titles) => {
      if (!canAsk) return new TextDecoder().decode(await world.stdin.readAll(signal));
      const lines: string[] = [];
      for (const title of titles) lines.push(await ask(title, "", true));
      return lines.join("\n");
    },
  };
}

/** What a command is run with: the service, the terminal and the flags of every command. */
import type { Client } from "@coffer/sdk";
import type { Settings } from "@coffer/sdk/node";
import type { Task } from "@coffer/tasks";
import { createRedaction, createServiceLink, type Redaction, type ServiceLink } from "@coffer/tasks/start";
import { CommandFailure } from "./failure.ts";
import type { Globals } from "./globals.ts";
import { quietProgress, terminalProgress, type Progress, type Unit } from "./terminal/progress.ts";
import { visibleTextFor } from "./terminal/visible.ts";
import type { Printable } from "./result.ts";
import { APPLICATION } from "./version.ts";
import { SECRET_VARIABLES, type World } from "./world.ts";

export interface Context {
  readonly world: World;
  readonly globals: Globals;
  /** Aborts at Ctrl-C, and when `--timeout` is over. */
  readonly signal: AbortSignal;
  readonly timedOut: AbortSignal;
  readonly redaction: Redaction;
  readonly serviceLink: ServiceLink;
  /** What the tasks of `@coffer/tasks` are run with. */
  readonly task: Task;
  /** The signed-in client. Throws `signed_out` without credentials. */
  readonly client: () => Promise<Client>;
  readonly settings: () => Promise<Settings>;
  /** A line on standard error, unless --quiet. */
  readonly printNote: (...parts: readonly Printable[]) => void;
  /** Bytes or text on standard output, for commands that write it themselves. */
  readonly write: (data: string | Uint8Array) => Promise<void>;
  /** One JSON document in a line of its own, for commands that follow something. */
  readonly writeLine: (value: unknown) => Promise<void>;
  /** How far work is, on a terminal; nothing where standard error is none. */
  readonly progress: (title: string, unit?: Unit) => Progress;
  /** How many files a transfer has gone through, for the failure that ends it. */
  readonly transferCount: { files: number; totalFiles: number };
  /** Goes on when the person agrees. Throws `declined`, or `confirmation_required` where nobody can be asked. */
  readonly confirm: (question: string) => Promise<void>;
  /** A line that a person types. Throws where nobody can be asked: `instead` says what to pass. */
  readonly ask: (question: string, instead: string, hidden?: boolean) => Promise<string>;
  /** All of standard input, for flags such as `--api-key-stdin`. A person types a hidden line for each title instead. */
  readonly readInput: (...titles: readonly string[]) => Promise<string>;
}

export function createContext(world: World, globals: Globals): Context {
  return new CommandContext(world, globals);
}

/** Its functions are fields, because commands take those that they need out of it. */
class CommandContext implements Context {
  readonly world: World;
  readonly globals: Globals;
  readonly signal: AbortSignal;
  readonly timedOut: AbortSignal;
  readonly redaction = createRedaction();
  readonly serviceLink: ServiceLink;
  readonly task: Task;
  readonly transferCount = { files: 0, totalFiles: 0 };
  readonly #flags: { readonly profile: string | undefined; readonly baseUrl: string | undefined };
  readonly #canAsk: boolean;

  constructor(world: World, globals: Globals) {
    this.world = world;
    this.globals = globals;
    for (const name of SECRET_VARIABLES) this.redaction.register(world.env[name]);
    this.timedOut = globals.timeout === undefined ? NEVER : AbortSignal.timeout(globals.timeout * 1_000);
    this.signal = pausedBy(world.interrupted, this.timedOut);
    this.#flags = { profile: globals.profile, baseUrl: globals.baseUrl };
    this.#canAsk = world.stdin.isTerminal && world.stderr.isTerminal && !globals.noInput;
    this.serviceLink = createServiceLink({
      env: world.env,
      configFile: null,
      flags: this.#flags,
      redaction: this.redaction,
      application: APPLICATION,
      warn: (message) => this.printNote("warning: ", message),
    });
    this.task = {
      signal: this.signal,
      progress: () => undefined,
      client: this.client,
      clientFor: this.client,
      chainAddress: () => this.serviceLink.chainAddress(),
    };
  }

  readonly client = (): Promise<Client> => this.serviceLink.client();

  readonly settings = async (): Promise<Settings> => {
    const { resolveSettings } = await import("@coffer/sdk/node");
    return await resolveSettings(this.world.env, this.#flags);
  };

  readonly printNote = (...parts: readonly Printable[]): void => {
    if (this.globals.quiet) return;
    const text = parts.map((part) => visibleTextFor(this.world, part)).join("");
    void this.world.stderr.write(`${this.redaction.redact(text)}\n`);
  };

  readonly write = (data: string | Uint8Array): Promise<void> =>
    this.world.stdout.write(typeof data === "string" ? this.redaction.redact(data) : data);

  readonly writeLine = (value: unknown): Promise<void> => this.write(`${JSON.stringify(value)}\n`);

  readonly progress = (title: string, unit?: Unit): Progress =>
    this.globals.quiet || !this.world.stderr.isTerminal
      ? quietProgress
      : terminalProgress(title, this.world.stderr, this.world.now, unit);

  readonly confirm = async (question: string): Promise<void> => {
    if (this.globals.yes) return;
    if (!this.#canAsk) throw new CommandFailure("confirmation_required", { message: `Not confirmed: ${question}` });
    const answer = await this.world.ask(`${question} [y/N] `, false, this.signal);
    this.signal.throwIfAborted();
    if (/^y(es)?$/i.test(answer?.trim() ?? "")) return;
    throw new CommandFailure("declined", { message: "Nothing was done" });
  };

  readonly ask = async (question: string, instead: string, hidden = false): Promise<string> => {
    const missing = `There is nobody to ask for: ${question}`;
    if (!this.#canAsk) throw new CommandFailure("confirmation_required", { message: missing, nextStep: instead });
    const answer = await this.world.ask(`${question}: `, hidden, this.signal);
    if (answer === null) throw new CommandFailure("declined", { message: "Nothing was done" });
    return answer;
  };

  readonly readInput = async (...titles: readonly string[]): Promise<string> => {
    if (!this.#canAsk) return new TextDecoder().decode(await this.world.stdin.readAll(this.signal));
    const lines: string[] = [];
    for (const title of titles) lines.push(await this.ask(title, "", true));
    return lines.join("\n");
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

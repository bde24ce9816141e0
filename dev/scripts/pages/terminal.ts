/** A terminal of a reader: one bash in which blocks are pasted one after the other, as they stand on the page. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Writable } from "node:stream";

/** What the shell prints when it takes the next paste. */
const PROMPT = "\u001E";
/**
 * Ends at the first command that fails; what a Ctrl-C ended has not failed. Blocks are sourced, so what they define and where they go stays. A reader
 * has typed nothing ahead.
 */
const LOOP = String.raw`set -euo pipefail
exec 2>&1
trap : INT
while read -r -u 3 how block; do
  if [ "$how" = serve ]; then . "$block" </dev/null 3<&- || true; else . "$block" </dev/null 3<&-; fi
  printf '\036'
done`;
/** What does not end by a Ctrl-C in this time is killed. */
const CLOSE_MS = 15_000;

const NEVER = new AbortController().signal;

export class PasteError extends Error {
  override readonly name = "PasteError";
}

export class Terminal implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #scratch = mkdtempSync(path.join(tmpdir(), "coffer-terminal-"));
  readonly #patience: number;
  /** Resolves with what ends all pastes: the shell, or the signal. */
  readonly #ended: Promise<string>;
  /** What was printed since the last paste began. */
  #output = "";
  #pastes = 0;
  /** Nothing that a reader started stays when this process is ended. */
  readonly #onExit = (): void => signal(this.#child.pid, "SIGTERM");

  /** A paste fails after `patience` milliseconds, and when the signal aborts. `through` starts the shell, such as `unshare --mount`. */
  constructor(
    cwd: string,
    env: NodeJS.ProcessEnv,
    patience: number,
    stop: AbortSignal = NEVER,
    through: readonly string[] = [],
  ) {
    this.#patience = patience;
    const [program, ...words] = [...through, "bash", "-c", LOOP];
    // A group of its own, so that a signal reaches what runs in it.
    this.#child = spawn(program, words, {
      cwd,
      env,
      detached: true,
      stdio: ["ignore", "pipe", "ignore", "pipe"],
    });
    this.#child.stdout?.setEncoding("utf8").on("data", (chunk: string) => (this.#output += chunk));
    this.#ended = Promise.race([
      once(this.#child, "close").then(() => "ended with a failure"),
      once(stop, "abort").then(() => String(stop.reason)),
    ]);
    process.once("exit", this.#onExit);
  }

  /** Resolves with what the text printed, once all of its commands ended with 0. @throws PasteError with what was printed. */
  async paste(text: string): Promise<string> {
    return this.#paste("run", text, () => this.#output.includes(PROMPT));
  }

  /** The same for a command that serves until it is stopped: resolves once it said that it is ready. */
  async pasteServing(text: string, ready: RegExp): Promise<string> {
    return this.#paste("serve", text, () => {
      if (this.#output.includes(PROMPT)) throw new PasteError(`ended before it was ready:\n${text}\n${this.#output}`);
      return ready.test(this.#output);
    });
  }

  /** Ctrl-C, for what serves. Resolves when the shell takes the next paste. */
  async interrupt(): Promise<void> {
    signal(this.#child.pid, "SIGINT");
    await this.#until(() => this.#output.includes(PROMPT), "the interrupt");
  }

  async #paste(how: "run" | "serve", text: string, done: () => boolean): Promise<string> {
    this.#output = "";
    this.#pastes += 1;
    const file = path.join(this.#scratch, `paste-${String(this.#pastes)}`);
    writeFileSync(file, text);
    (this.#child.stdio[3] as Writable).write(`${how} ${file}\n`);
    await this.#until(done, text);
    return this.#output.replace(PROMPT, "");
  }

  async #until(done: () => boolean, text: string): Promise<void> {
    const late = AbortSignal.timeout(this.#patience);
    const { stdout } = this.#child;
    const tooLate = once(late, "abort").then(() => `did not end in ${String(this.#patience / 1000)} s`);
    while (!done()) {
      const failure = await Promise.race([once(stdout ?? this.#child, "data").then(() => null), this.#ended, tooLate]);
      if (failure !== null) throw new PasteError(`${failure}:\n${text}\n${this.#output}`);
    }
  }

  /** Closes the window: what runs in it gets the signal of a Ctrl-C, and then ends. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { pid, exitCode, signalCode } = this.#child;
    const closed = exitCode === null && signalCode === null ? once(this.#child, "close") : Promise.resolve();
    signal(pid, "SIGINT");
    (this.#child.stdio[3] as Writable).end();
    const kill = setTimeout(() => signal(pid, "SIGKILL"), CLOSE_MS);
    await closed;
    clearTimeout(kill);
    process.off("exit", this.#onExit);
    rmSync(this.#scratch, { recursive: true, force: true });
  }
}

/** To the whole group, which may be gone. */
function signal(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

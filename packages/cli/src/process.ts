/** The process: its streams, its environment, its signals. */
import { spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { createInterface } from "node:readline";
import { isSea } from "node:sea";
import { Writable } from "node:stream";
import { runCoffer } from "./run.ts";
import type { InputStream, OutputStream, Program, World } from "./world.ts";

/** The columns where nobody says. */
const COLUMNS = 80;

const interrupt = new AbortController();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(name, () => {
    // The second one ends what does not stop.
    if (interrupt.signal.aborted) process.exit(130);
    interrupt.abort();
  });

// The reader of our output may have read enough: `coffer ls | head`.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

// Not awaited here: parts of the bundle import this one, and would wait for its end.
void runCoffer(process.argv.slice(2), {
  env: process.env,
  platform: process.platform,
  workingDirectory: process.cwd(),
  stdin: inputOf(process.stdin),
  stdout: outputOf(process.stdout),
  stderr: outputOf(process.stderr),
  now: Date.now,
  interrupted: interrupt.signal,
  self: self(),
  ask,
  run,
} satisfies World).then((code) => {
  // Connections that are kept open for a next request would hold the process.
  process.exit(code);
});

function outputOf(stream: NodeJS.WriteStream): OutputStream {
  return {
    write: (data) => new Promise((resolve) => void stream.write(data, () => resolve())),
    isTerminal: stream.isTTY ?? false,
    get columns() {
      // A pseudo-terminal that nobody gave a size has 0.
      return stream.columns > 0 ? stream.columns : COLUMNS;
    },
  };
}

function inputOf(stream: NodeJS.ReadStream): InputStream {
  return {
    isTerminal: stream.isTTY ?? false,
    readAll: async () => Buffer.concat(await stream.toArray()),
    pieces: () => stream,
  };
}

function self(): Program {
  // A single executable has no script beside it.
  if (isSea()) return { command: process.execPath, args: [] };
  const [, script = ""] = process.argv;
  return { command: process.execPath, args: [...process.execArgv, ...(script === "" ? [] : [realpathSync(script)])] };
}

/** Prompts are on standard error: standard output belongs to the result. */
function ask(question: string, hidden: boolean): Promise<string | null> {
  const silent = new Writable({ write: (_piece, _encoding, next) => next() });
  const output = hidden ? silent : process.stderr;
  const line = createInterface({ input: process.stdin, output, terminal: true });
  // Not before the terminal has stopped to echo: what is pasted at once would be on the screen.
  if (hidden) process.stderr.write(question);
  return new Promise((resolve) => {
    const end = (answer: string | null): void => {
      resolve(answer);
      line.close();
      if (hidden) process.stderr.write("\n");
    };
    line.once("SIGINT", () => {
      interrupt.abort();
      end(null);
    });
    line.once("close", () => resolve(null));
    line.question(hidden ? "" : question, end);
  });
}

function run({ command, args, env, cwd, isTried }: Program): Promise<number> {
  const child = spawn(command, [...args], {
    stdio: isTried === true ? ["ignore", "ignore", "inherit"] : "inherit",
    env: { ...process.env, ...env },
    cwd: cwd ?? process.cwd(),
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? (signal === "SIGINT" ? 130 : 1)));
  });
}

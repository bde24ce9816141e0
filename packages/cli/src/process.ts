/** The process: its streams, its environment, its signals. */
import { spawn, type ChildProcess } from "node:child_process";
import { realpathSync } from "node:fs";
import { createInterface } from "node:readline";
import { addAbortSignal, Writable } from "node:stream";
import { EXIT, exitOfProcess } from "./exit-codes.ts";
import { invocationOf } from "./invocation.ts";
import { IS_ONE_FILE, TOOL_SERVER_WORD } from "./one-file.ts";
import { runCoffer } from "./run.ts";
import { SECRET_VARIABLES, type InputStream, type OutputStream, type Program, type World } from "./world.ts";

/** The columns where nobody says. */
const COLUMNS = 80;

const interrupt = new AbortController();
let running: ChildProcess | null = null;
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(name, () => {
    // The terminal sends Ctrl-C to both.
    if (name !== "SIGINT") running?.kill(name);
    // The second one ends what does not stop.
    if (interrupt.signal.aborted) process.exit(EXIT.interrupted);
    interrupt.abort();
  });

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
  invocation: invocationOf(process.env, process.argv[1] ?? "", IS_ONE_FILE),
  toolServer: IS_ONE_FILE ? { ...self(), args: [...self().args, TOOL_SERVER_WORD] } : null,
  ask,
  run,
} satisfies World).then((code) => {
  // Connections that are kept open for a next request would hold the process.
  process.exit(code);
});

function outputOf(stream: NodeJS.WriteStream): OutputStream {
  // Each write answers for itself; without a listener the failure would end the process.
  stream.on("error", () => undefined);
  return {
    write: (data) =>
      new Promise((resolve, reject) => {
        stream.write(data, (error) => (error == null ? resolve() : reject(error)));
      }),
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
    readAll: async (signal) => Buffer.concat(await addAbortSignal(signal, stream).toArray()),
    pieces: (signal) => addAbortSignal(signal, stream),
  };
}

function self(): Program {
  const [, script = ""] = process.argv;
  return { command: process.execPath, args: [...process.execArgv, ...(script === "" ? [] : [realpathSync(script)])] };
}

/** Prompts are on standard error: standard output belongs to the result. */
function ask(question: string, hidden: boolean, signal: AbortSignal): Promise<string | null> {
  if (signal.aborted) return Promise.resolve(null);
  const silent = new Writable({ write: (_piece, _encoding, next) => next() });
  const output = hidden ? silent : process.stderr;
  const line = createInterface({ input: process.stdin, output, terminal: true });
  // Not before the terminal has stopped to echo: what is pasted at once would be on the screen.
  if (hidden) process.stderr.write(question);
  return new Promise((resolve) => {
    const stop = (): void => line.close();
    signal.addEventListener("abort", stop, { once: true });
    let answer: string | null = null;
    line.once("SIGINT", () => interrupt.abort());
    line.once("close", () => {
      signal.removeEventListener("abort", stop);
      // The next line of the terminal is free for what comes then.
      if (hidden || answer === null) process.stderr.write("\n");
      resolve(answer);
    });
    line.question(hidden ? "" : question, (typed) => {
      answer = typed;
      line.close();
    });
  });
}

function run({ command, args, env, cwd, isTried, isDetached = false }: Program): Promise<number> {
  const without = isDetached ? Object.fromEntries(SECRET_VARIABLES.map((name) => [name, undefined])) : {};
  const child = spawn(command, [...args], {
    stdio: isDetached ? "ignore" : isTried === true ? ["ignore", "ignore", "inherit"] : "inherit",
    env: { ...process.env, ...env, ...without },
    cwd: cwd ?? process.cwd(),
    detached: isDetached,
  });
  if (isDetached)
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("spawn", () => {
        child.unref();
        resolve(EXIT.done);
      });
    });
  running = child;
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(exitOfProcess(code, signal)));
  });
}

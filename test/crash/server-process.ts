/** The server as a process of its own, on scratch data, so that a test can kill it. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { engineSettings } from "../kit/engine-settings.ts";
import { SERVER } from "../kit/server-program.ts";

/** A start that takes longer has failed. */
const START_MS = 60_000;

export interface LogLine {
  readonly event?: string;
  readonly job?: string;
  readonly [field: string]: unknown;
}

export interface ServerProcess extends AsyncDisposable {
  readonly baseUrl: string;
  readonly port: number;
  readonly pid: number;
  /** Every line of its log so far. */
  readonly log: readonly LogLine[];
  /** Resolves with the first line that matches, past or future; rejects when the process ends without it. */
  waitForLine(matches: (line: LogLine) => boolean): Promise<LogLine>;
  /** Sends a signal and waits for the end. Answers the exit code, null after a kill. */
  end(signal: "SIGKILL" | "SIGTERM"): Promise<number | null>;
  /** Sends a signal and goes on. */
  signal(signal: "SIGTERM" | "SIGHUP"): void;
  readonly exited: Promise<number | null>;
}

export interface StartOptions {
  readonly directory: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** 0: a free one. A restarted server keeps its port, so that clients find it again. */
  readonly port?: number;
  /** `ulimit -n` of the process. */
  readonly openFiles?: number;
  /** What starts it, such as `unshare --mount`: it becomes the server. */
  readonly through?: readonly string[];
  /** The words behind the program, such as `--env-file`. */
  readonly words?: readonly string[];
}

/** Starts the built server and waits until it listens. Rejects with its log when it does not. */
export async function startServerProcess(options: StartOptions): Promise<ServerProcess> {
  const child = launch(options);
  const log: LogLine[] = [];
  const watchers = new Set<(line: LogLine) => void>();
  const raw: string[] = [];
  createInterface({ input: child.stderr ?? process.stdin }).on("line", (text) => {
    const line = parseLine(text);
    if (line === null) return void raw.push(text);
    log.push(line);
    for (const watch of watchers) watch(line);
  });
  const exited = once(child, "exit").then(([code]) => code as number | null);
  const waitForLine = (matches: (line: LogLine) => boolean) =>
    new Promise<LogLine>((resolve, reject) => {
      const known = log.find(matches);
      if (known !== undefined) return resolve(known);
      const watch = (line: LogLine) => {
        if (matches(line)) resolve(line);
      };
      watchers.add(watch);
      void exited.then(() => {
        reject(
          new Error(`the server ended:\n${[...raw, ...log.map((line) => JSON.stringify(line))].slice(-20).join("\n")}`),
        );
      });
    });
  const port = Number(
    (
      await withinTime(
        waitForLine((line) => line.event === "listening"),
        child,
      )
    ).port,
  );
  const end = async (signal: "SIGKILL" | "SIGTERM") => {
    child.kill(signal);
    return exited;
  };
  const running = () => child.exitCode === null && child.signalCode === null;
  return {
    baseUrl: `http://127.0.0.1:${String(port)}`,
    port,
    pid: child.pid ?? 0,
    log,
    waitForLine,
    end,
    exited,
    signal: (signal) => void child.kill(signal),
    [Symbol.asyncDispose]: async () => {
      if (running()) await end("SIGKILL");
    },
  };
}

export interface ScratchServer extends ServerProcess {
  readonly directory: string;
  /** What leads an operator's command to the same data. */
  readonly variables: Readonly<Record<string, string>>;
}

/** A server on a directory that vanishes with it, and on places of its own in the engines that tests run on. */
export async function openScratchServer(more: Readonly<Record<string, string>> = {}): Promise<ScratchServer> {
  const directory = await mkdtemp(join(tmpdir(), "coffer-scratch-"));
  const environment = { ...(await engineSettings(directory)), ...more };
  const server = await startServerProcess({ directory, environment });
  return {
    ...server,
    directory,
    variables: { SERVICE_ENV: "development", SERVICE_DATA_DIR: directory, ...environment },
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function launch(options: StartOptions): ChildProcess {
  const { directory, environment = {}, port = 0, openFiles, through = [], words = [] } = options;
  const node = [...through, ...SERVER, ...words];
  const [command = "", ...rest] =
    openFiles === undefined ? node : ["sh", "-c", `ulimit -n ${String(openFiles)} && exec "$@"`, "sh", ...node];
  const env = {
    PATH: process.env.PATH,
    SERVICE_ENV: "development",
    SERVICE_DATA_DIR: directory,
    SERVICE_PORT: String(port),
    ...environment,
  };
  return spawn(command, rest, { env, stdio: ["ignore", "ignore", "pipe"] });
}

function parseLine(text: string): LogLine | null {
  try {
    return text.startsWith("{") ? (JSON.parse(text) as LogLine) : null;
  } catch {
    return null;
  }
}

async function withinTime<Value>(work: Promise<Value>, child: ChildProcess): Promise<Value> {
  const timer = setTimeout(() => child.kill("SIGKILL"), START_MS);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}

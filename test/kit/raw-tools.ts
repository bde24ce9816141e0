/** The tool server as a process, with every byte that it writes: what a client library would not show. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { launcherCommand } from "@coffer/devstack";

export interface RawTools extends AsyncDisposable {
  readonly child: ChildProcessWithoutNullStreams;
  /** Everything on stdout so far. */
  stdout(): string;
  stderr(): string;
  /** The result of a call, or the error of the protocol. */
  call(name: string, args?: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** Without waiting for an answer. */
  begin(name: string, args: Readonly<Record<string, unknown>>, meta?: object): void;
  /** Ends stdin; resolves with the milliseconds until the process was gone. */
  hangUp(): Promise<number>;
}

export interface RawToolsOptions {
  readonly environment: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  readonly command?: { readonly command: string; readonly args: readonly string[] };
  /** Of the protocol. Default: 2025, which begins with `initialize`. */
  readonly era?: "2025" | "2026";
}

/** In the 2026 era every request says whose it is. */
export const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
};

const INITIALIZE = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "raw", version: "1" },
};

/** A client that can call. */
export async function openRawTools(options: RawToolsOptions): Promise<RawTools> {
  const { environment, flags = [], command, era = "2025" } = options;
  const { command: program, args } = command ?? launcherCommand();
  const child = spawn(program, [...args, ...flags], { env: { PATH: process.env["PATH"], ...environment } });
  const written = { out: "", err: "" };
  const waiting = new Map<number, (message: { result?: unknown; error?: unknown }) => void>();
  let rest = "";
  child.stdout.on("data", (chunk: Buffer) => {
    written.out += chunk.toString();
    const lines = (rest + chunk.toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const message = JSON.parse(line) as { id?: number; result?: unknown; error?: unknown };
      if (message.id !== undefined) waiting.get(message.id)?.(message);
    }
  });
  child.stderr.on("data", (chunk: Buffer) => (written.err += chunk.toString()));
  // A test may kill the program at any moment: what is sent then has no answer.
  child.stdin.on("error", () => undefined);
  let next = 0;
  const send = (method: string, params: object): number => {
    next += 1;
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: next, method, params })}\n`);
    return next;
  };
  const ask = async (method: string, params: object): Promise<unknown> => {
    const { promise, resolve } = Promise.withResolvers<{ result?: unknown; error?: unknown }>();
    waiting.set(send(method, params), resolve);
    const { error, result } = await promise;
    return error ?? result;
  };
  const ended = once(child, "exit");
  if (era === "2025") {
    await Promise.race([ask("initialize", INITIALIZE), ended]);
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  }
  const envelope = era === "2025" ? {} : { _meta: ENVELOPE };
  const hangUp = async (): Promise<number> => {
    const start = performance.now();
    child.stdin.end();
    await ended;
    return performance.now() - start;
  };
  return {
    child,
    stdout: () => written.out,
    stderr: () => written.err,
    call: (name, given = {}) => ask("tools/call", { name, arguments: given, ...envelope }),
    begin: (name, given, meta = {}) => void send("tools/call", { name, arguments: given, _meta: meta }),
    hangUp,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) await hangUp();
    },
  };
}

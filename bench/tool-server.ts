/** A tool server on stdio, as a host starts it. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";

export const LAUNCHER = join(import.meta.dirname, "../packages/mcp/dist/main.js");

type Environment = Readonly<Record<string, string>>;

/** A server on stdio, spoken to by hand: a client's own time would be in the numbers. */
export interface Spoken {
  readonly pid: number;
  request(method: string, params: object): Promise<Record<string, unknown>>;
  notify(method: string): void;
  end(): Promise<void>;
}

export function speak(args: readonly string[], environment: Environment): Spoken {
  const env = { PATH: process.env["PATH"] ?? "", ...environment };
  const child: ChildProcessWithoutNullStreams = spawn(process.execPath, args, { env });
  child.stderr.resume();
  const waiting = new Map<number, (result: Record<string, unknown>) => void>();
  createInterface(child.stdout).on("line", (line) => {
    const { id, result } = JSON.parse(line) as { id?: number; result?: Record<string, unknown> };
    if (id !== undefined) waiting.get(id)?.(result ?? {});
  });
  let next = 0;
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  return {
    pid: child.pid ?? 0,
    request: (method, params) =>
      new Promise((resolve) => {
        next += 1;
        waiting.set(next, resolve);
        send({ id: next, method, params });
      }),
    notify: (method) => send({ method }),
    end: async () => {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.stdin.end();
      await ended;
    },
  };
}

const HELLO = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } };

export async function greet(server: Spoken): Promise<void> {
  await server.request("initialize", HELLO);
  server.notify("notifications/initialized");
}

export async function callTool(server: Spoken, name: string, args: object): Promise<Record<string, unknown>> {
  const result = await server.request("tools/call", { name, arguments: args });
  if (result["isError"] === true) throw new Error(JSON.stringify(result["structuredContent"]));
  return result;
}

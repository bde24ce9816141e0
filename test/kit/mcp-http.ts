/** A spawned tool server that listens on this machine, and clients of it. */
import { spawn } from "node:child_process";
import { launcherCommand } from "@coffer/devstack";
import { Client } from "@modelcontextprotocol/client";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

export interface SpawnedShell extends AsyncDisposable {
  /** `http://127.0.0.1:PORT/mcp` */
  readonly url: string;
  readonly stderr: () => string;
  /** Resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** Rejects with what the process wrote when it ends before it listens. */
export async function spawnShell(
  environment: Readonly<Record<string, string>>,
  flags: readonly string[] = [],
): Promise<SpawnedShell> {
  const { command, args } = launcherCommand();
  const child = spawn(command, [...args, "--http", "0", ...flags], {
    env: { PATH: process.env["PATH"], ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString();
      const found = /listening at (\S+)/.exec(stderr)?.[1];
      if (found !== undefined) resolve(found);
    });
    void ended.then(() => {
      reject(new Error(stderr));
    });
  });
  const stop = async (): Promise<number | null> => {
    child.kill("SIGTERM");
    return await ended;
  };
  return {
    url,
    stderr: () => stderr,
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop();
    },
  };
}

export type Era = "legacy" | { readonly pin: string };

/** A client of 2.x over HTTP. `answer` makes it one that can ask its user. */
export async function connectHttp(
  url: string,
  key: string,
  mode: Era,
  answer?: (message: string) => { action: "accept" | "decline"; content?: Record<string, boolean> },
): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1" },
    { capabilities: answer === undefined ? {} : { elicitation: {} }, versionNegotiation: { mode } },
  );
  if (answer !== undefined)
    client.setRequestHandler("elicitation/create", ({ params }) => Promise.resolve(answer(params.message)));
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${key}` } } }),
  );
  return client;
}

/** A server process of its own: production mode, other limits, or a second server on the data of a running stack. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { collectOutput, REPOSITORY, stopProcess } from "./stack.ts";

export interface ServerProcess extends AsyncDisposable {
  readonly baseUrl: string;
  printed(): string;
}

/** Starts the server with nothing but these variables and waits until it says that it is ready. */
export async function startServerProcess(variables: Readonly<Record<string, string>>): Promise<ServerProcess> {
  const port = await freePort();
  const child = spawn(process.execPath, ["--conditions=coffer-source", join(REPOSITORY, "server/src/main.ts")], {
    env: { PATH: process.env["PATH"], SERVICE_HOST: "127.0.0.1", SERVICE_PORT: String(port), ...variables },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = collectOutput(child);
  const baseUrl = `http://127.0.0.1:${port}`;
  const deadline = AbortSignal.timeout(30_000);
  while (!(await isReady(baseUrl))) {
    if (child.exitCode !== null || deadline.aborted) {
      await stopProcess(child);
      throw new Error(`the server did not get ready: ${output.stderr.slice(-2000)}`);
    }
    await wait(50);
  }
  return {
    baseUrl,
    printed: () => output.stdout + output.stderr,
    [Symbol.asyncDispose]: () => stopProcess(child),
  };
}

async function isReady(baseUrl: string): Promise<boolean> {
  try {
    return (await fetch(`${baseUrl}/readyz`)).status === 200;
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

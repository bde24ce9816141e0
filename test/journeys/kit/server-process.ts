/** A server process of its own: production mode, other limits, or a second server on the data of a running stack. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { requireClean } from "../../kit/secret-recorder.ts";
import { SERVER_MAIN } from "../../kit/server-program.ts";
import { collectOutput, stopProcess } from "./stack.ts";

export interface ServerProcess extends AsyncDisposable {
  readonly baseUrl: string;
  printed(): string;
}

/** What the server prints when it takes requests. */
const LISTENS = /^coffer-server listens on (http:\/\/\S+)$/m;
/** The longest that a start may take here, in milliseconds. */
const START_LIMIT = 60_000;

/** Starts the server with nothing but these variables, on a free port, and waits until it listens. */
export async function startServerProcess(variables: Readonly<Record<string, string>>): Promise<ServerProcess> {
  const child = spawn(process.execPath, [SERVER_MAIN], {
    env: { PATH: process.env["PATH"], SERVICE_HOST: "127.0.0.1", SERVICE_PORT: "0", ...variables },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = collectOutput(child);
  const deadline = AbortSignal.timeout(START_LIMIT);
  let baseUrl = LISTENS.exec(output.stderr)?.[1];
  while (baseUrl === undefined) {
    if (child.exitCode !== null || deadline.aborted) {
      await stopProcess(child);
      throw new Error(`the server did not get ready: ${output.stderr.slice(-2000)}`);
    }
    await Promise.race([once(child.stderr, "data"), once(child, "exit"), once(deadline, "abort")]);
    baseUrl = LISTENS.exec(output.stderr)?.[1];
  }
  return {
    baseUrl,
    printed: () => output.stdout + output.stderr,
    async [Symbol.asyncDispose]() {
      await stopProcess(child);
      await requireClean(variables["SERVICE_DATA_DIR"] ?? null, output.stdout + output.stderr);
    },
  };
}

/** Programs of projects that serve on loopback. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { plainEnvironment } from "../kit/packed.ts";

/** Many times what the slowest takes on a busy machine. */
const START_MS = 120_000;

export interface Served {
  readonly directory: string;
  /** For Node. */
  readonly words: readonly string[];
  readonly settings: Readonly<Record<string, string>>;
  /** An address that it answers at, whatever the answer. */
  readonly url: string;
}

/** Starts the program as in production, without what tests preload, and resolves when it answers. Disposing of it ends it. */
export async function serve({ directory, words, settings, url }: Served): Promise<AsyncDisposable> {
  const said: string[] = [];
  const child = spawn(process.execPath, words, {
    cwd: directory,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...plainEnvironment(), NODE_ENV: "production", ...settings },
  });
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => said.push(String(chunk)));
  const exited = once(child, "exit");
  const end = (): boolean => child.kill("SIGKILL");
  // Whatever ends this process: a server without its test would stay.
  process.once("exit", end);
  const served = {
    async [Symbol.asyncDispose]() {
      process.off("exit", end);
      end();
      await exited;
    },
  };
  for (let waited = 0; waited < START_MS && child.exitCode === null; waited += 100) {
    if (await fetch(url, { method: "POST" }).catch(() => null)) return served;
    await pause(100);
  }
  await served[Symbol.asyncDispose]();
  throw new Error(`${words.join(" ")} does not answer:\n${said.join("")}`);
}

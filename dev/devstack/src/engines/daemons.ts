/** Programs of engines that go on until whoever started them ends. */
import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process";
import { accessSync, closeSync, constants, openSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

export function isInstalled(program: string): boolean {
  return (process.env["PATH"] ?? "").split(":").some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK);
      return directory !== "";
    } catch {
      return false;
    }
  });
}

/** A program that goes on. The kernel ends it with the process that started it, however that ends. */
export function startDaemon(
  program: string,
  words: readonly string[],
  log: string,
  user: Pick<SpawnOptions, "uid" | "gid"> = {},
): ChildProcess {
  const [command, all] = tied(program, words);
  const output = openSync(log, "a");
  try {
    return spawn(command, all, { ...user, stdio: ["ignore", output, output] });
  } finally {
    closeSync(output);
  }
}

/** A program and its words, so that the kernel ends it with this process where it can. */
export function tied(program: string, words: readonly string[]): [program: string, words: string[]] {
  return isInstalled("setpriv") ? ["setpriv", ["--pdeathsig", "KILL", "--", program, ...words]] : [program, [...words]];
}

/** Resolves when it has ended. */
export async function endDaemon(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  await ended;
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => {
        if (address === null || typeof address === "string") reject(new Error("no port"));
        else resolve(address.port);
      });
    });
  });
}

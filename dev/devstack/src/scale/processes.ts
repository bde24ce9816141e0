/** Server processes on one database and one store. The kernel ends them with the process that started them. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { endDaemon, tied } from "../engines/daemons.ts";

export interface ServerProcess extends AsyncDisposable {
  readonly baseUrl: string;
}

const MAIN = join(import.meta.dirname, "..", "..", "..", "..", "server", "src", "main.ts");
const LISTENS = /^coffer-server listens on (\S+)$/;

/** Resolves when it listens. Rejects with what it wrote if it ends before. */
export async function startServerProcess(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<ServerProcess> {
  const [program, words] = tied(process.execPath, ["--conditions=coffer-source", MAIN]);
  const child = spawn(program, words, { env: environment, stdio: ["ignore", "ignore", "pipe"] });
  return { baseUrl: await listening(child), [Symbol.asyncDispose]: () => endDaemon(child, "SIGTERM") };
}

function listening(child: ChildProcess & { readonly stderr: NodeJS.ReadableStream }): Promise<string> {
  const written: string[] = [];
  let isUp = false;
  return new Promise((resolve, reject) => {
    createInterface(child.stderr).on("line", (line) => {
      const baseUrl = LISTENS.exec(line)?.[1];
      if (baseUrl !== undefined) {
        isUp = true;
        resolve(baseUrl);
      } else if (!isUp) written.push(line);
    });
    child.once("exit", () => {
      reject(new Error(`A server process ended before it listened: ${written.join(" ")}`));
    });
  });
}

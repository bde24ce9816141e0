/** The server's own commands, as an operator types them at the shell. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { recordAnswer } from "../../kit/secret-recorder.ts";
import { SERVER_MAIN } from "../../kit/server-program.ts";
import { collectOutput } from "./stack.ts";

export interface CommandOutcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `coffer-server <words>` with nothing but these variables, to its end. */
export async function runOperator(
  words: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<CommandOutcome> {
  const child = spawn(process.execPath, [SERVER_MAIN, ...words], {
    env: { PATH: process.env["PATH"], ...variables },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = collectOutput(child);
  const [code] = (await once(child, "close")) as [number | null];
  recordAnswer(output.stdout);
  return { code, ...output };
}

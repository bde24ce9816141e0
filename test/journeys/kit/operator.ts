/** The server's own commands, as an operator types them at the shell. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { recordAnswer } from "../../kit/secret-recorder.ts";
import { collectOutput, REPOSITORY } from "./stack.ts";

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
  const program = ["--conditions=coffer-source", join(REPOSITORY, "server/src/main.ts"), ...words];
  const child = spawn(process.execPath, program, {
    env: { PATH: process.env["PATH"], ...variables },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = collectOutput(child);
  const [code] = (await once(child, "close")) as [number | null];
  recordAnswer(output.stdout);
  return { code, ...output };
}

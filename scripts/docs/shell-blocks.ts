/** Shell blocks of the pages, run once or twice, because readers paste twice. Programs that serve are stopped once they are ready. */
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ROOT, type Block } from "./documents.ts";
import type { Given } from "./given.ts";
import { replaceAddresses } from "./program-blocks.ts";

/** Commands that serve until they are stopped, what they say when they are ready, and what keeps them off the reader's own data. */
const SERVING = [
  { command: /^npm start\b(?!.*--once)/, ready: /up until Ctrl-C/, slow: true },
  { command: /\bnpm run server$/, ready: /"?listening|serving|http:\/\/127/, slow: false },
  { command: /^npm run localnet\b/, ready: /grpcUrl/, slow: false },
] as const;
/** Takes longer than the run beside all other checks allows. */
const SLOW = /^npm (start|pack|run (build|newcomer))\b/m;
const PATIENCE_MS = 120_000;

export interface Shell {
  readonly environment: NodeJS.ProcessEnv;
  /** Text of a page to what is run. */
  readonly adapt: (line: string) => string;
}

/** A home, data directories and ports of their own, so that nothing of the reader's is touched. */
export function shellFor(given: Given, scratch: string): Shell {
  const home = path.join(scratch, "home");
  const reports = path.join(home, "Documents", "reports");
  mkdirSync(reports, { recursive: true });
  writeFileSync(path.join(reports, "report.txt"), "A report.\n");
  const data = path.join(scratch, "start");
  // The build alone does not make the program executable; an install of the package does.
  const programs = path.join(home, "bin");
  mkdirSync(programs, { recursive: true });
  const program = path.join(ROOT, "packages", "cli", "dist", "main.js");
  writeFileSync(path.join(programs, "coffer"), `#!/bin/sh\nexec node "${program}" "$@"\n`, { mode: 0o755 });
  const environment = {
    ...process.env,
    ...{ PATH: `${programs}:${path.join(ROOT, "node_modules", ".bin")}:${process.env["PATH"] ?? ""}`, HOME: home },
    ...{ SERVICE_CONFIG_FILE: given.stack.credentialsFile, SERVICE_CONFIG_DIR: path.join(scratch, "config") },
    ...{ SERVICE_DATA_DIR: path.join(scratch, "server"), SERVICE_PORT: "0" },
  };
  const adapt = (line: string): string => {
    const own = replaceAddresses(line, given)
      .replaceAll("--port 8787", "--port 0")
      .replaceAll(".coffer/localnet", path.join(scratch, "localnet"));
    if (!own.startsWith("npm start")) return own;
    const command = own.replace(/\s+#.*/, "");
    const options = [
      // With --scale nothing is kept.
      ...(/--(data|scale)\b/.test(command) ? [] : ["--data", data]),
      ...(command.includes("--port") ? [] : ["--port", "0"]),
      ...(command.includes("--folder") ? [] : ["--folder", reports]),
    ];
    return [command, ...(command.includes(" -- ") ? [] : ["--"]), ...options].join(" ");
  };
  return { environment, adapt };
}

export function isSlow({ code }: Block): boolean {
  return SLOW.test(code);
}

/** Runs the block as one paste, that many times. Rejects with the output when a command fails. */
export async function runShell(block: Block, shell: Shell, times: number): Promise<void> {
  const left = new Set(block.linesNotRun.map(({ line }) => line));
  const lines = block.code.split("\n").filter((line) => !left.has(line));
  for (let time = 1; time <= times; time += 1) {
    let script: string[] = [];
    for (const line of lines) {
      const serving = SERVING.find(({ command }) => command.test(line.replace(/\s+#.*/, "")));
      if (serving === undefined) script.push(shell.adapt(line));
      else {
        if (script.length > 0) await bash(script.join("\n"), shell);
        script = [];
        await bash(shell.adapt(line), shell, serving.ready);
      }
    }
    if (script.join("").trim() !== "") await bash(script.join("\n"), shell);
  }
}

/** Resolves when the script ends with 0, or, with `ready`, when it said that and then ended by a signal to stop. */
function bash(script: string, { environment }: Shell, ready?: RegExp): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn("bash", ["-euo", "pipefail", "-c", script], {
      ...{ cwd: ROOT, env: environment, detached: true, stdio: ["ignore", "pipe", "pipe"] },
    });
    const stop = (): void => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGTERM");
    };
    const late = setTimeout(stop, PATIENCE_MS);
    let output = "";
    let isReady = ready === undefined;
    const hear = (chunk: Buffer): void => {
      output += chunk.toString();
      if (isReady || ready?.test(output) !== true) return;
      isReady = true;
      stop();
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(late);
      if (isReady && (ready !== undefined || code === 0)) resolve();
      else reject(new Error(`ended with ${String(code)}: ${script}\n${output}`));
    });
  });
}

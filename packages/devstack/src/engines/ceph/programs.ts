/** The programs of a small Ceph: whether they are there, and running them until whoever started them ends. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { accessSync, closeSync, constants, openSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

/** Debian's packages, and what of them is run. */
export const CEPH_PACKAGES = ["radosgw", "ceph-mon", "ceph-osd", "ceph-common"] as const;
const PROGRAMS = ["radosgw", "radosgw-admin", "ceph-mon", "ceph-osd", "ceph", "ceph-authtool", "monmaptool"] as const;

/** Why a Ceph cannot be started here, and what to do about it; null: it can. */
export function whyNoCeph(): string | null {
  const missing = PROGRAMS.filter((name) => !isInstalled(name));
  if (missing.length === 0) return null;
  return `${missing.join(", ")}: not installed; run \`npm run scale:setup\` as root on Debian, or install ${CEPH_PACKAGES.join(", ")}`;
}

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

const execute = promisify(execFile);

/** Runs one to its end; what it printed. Rejects with what it said when it fails. */
export async function runProgram(program: string, words: readonly string[]): Promise<string> {
  return (await execute(program, [...words], { timeout: 60_000 })).stdout;
}

/** A program that goes on. The kernel ends it with the process that started it, however that ends. */
export function startDaemon(program: string, words: readonly string[], log: string): ChildProcess {
  const [command, all] = tied(program, words);
  const output = openSync(log, "a");
  try {
    return spawn(command, all, { stdio: ["ignore", output, output] });
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

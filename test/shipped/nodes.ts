/** The versions of Node that the programs are promised to run on, and one that is too old. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const DIRECTORY = join(import.meta.dirname, "nodes");

export const NODES = ["oldest", "newest"] as const;

/** The program, installed on demand. */
export function nodeProgram(which: (typeof NODES)[number] | "too-old"): string {
  if (!existsSync(join(DIRECTORY, "node_modules", ".package-lock.json")))
    execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: DIRECTORY, stdio: "ignore" });
  return join(DIRECTORY, "node_modules", `node-${which}`, "bin", "node");
}

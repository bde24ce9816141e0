/** Programs that check, measure and package ours. They are installed when one is needed, apart from what ships. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

const directoryOf = (of: "mcp" | "cli"): string => path.join(import.meta.dirname, "..", "..", "test", of, "peers");

/** The directory of their packages. */
export const PEER_MODULES = path.join(directoryOf("mcp"), "node_modules");
/** Their programs. */
export const PEER_PROGRAMS = path.join(PEER_MODULES, ".bin");
export const CLI_PEER_MODULES = path.join(directoryOf("cli"), "node_modules");

export async function installPeers(of: "mcp" | "cli" = "mcp"): Promise<void> {
  const cwd = directoryOf(of);
  if (existsSync(path.join(cwd, "node_modules", ".package-lock.json"))) return;
  console.error(`installing the programs of test/${of}/peers …`);
  await promisify(execFile)("npm", ["ci", "--ignore-scripts"], { cwd });
}

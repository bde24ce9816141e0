/** Programs that check the tool server. They are installed when one is needed, apart from what ships. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

const DIRECTORY = path.join(import.meta.dirname, "..", "test", "mcp", "peers");

/** The directory of their packages. */
export const PEER_MODULES = path.join(DIRECTORY, "node_modules");
/** Their programs. */
export const PEER_PROGRAMS = path.join(PEER_MODULES, ".bin");

export async function installPeers(): Promise<void> {
  if (existsSync(path.join(PEER_PROGRAMS, "conformance"))) return;
  console.error("installing the programs that check the tool server …");
  await promisify(execFile)("npm", ["ci", "--ignore-scripts"], { cwd: DIRECTORY });
}

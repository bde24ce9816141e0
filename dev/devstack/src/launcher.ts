/** How the tool server is started: by absolute paths, so that it starts from any directory and with any PATH. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export interface LauncherCommand {
  /** This very Node. */
  readonly command: string;
  /** The launcher, after what Node needs to run it. */
  readonly args: readonly string[];
}

const MCP_PACKAGE = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..", "packages", "mcp");

/** The built launcher; in a working copy that was never built, its source, which Node runs as well. */
export function launcherCommand(): LauncherCommand {
  const built = join(MCP_PACKAGE, "dist", "main.js");
  return existsSync(built) ? { command: process.execPath, args: [built] } : sourceLauncher();
}

/** The command line and the tool server in one file, for machines that have Node alone. The set-up builds it. */
export const ONE_FILE = join(MCP_PACKAGE, "..", "cli", "dist", "coffer.mjs");

function sourceLauncher(): LauncherCommand {
  return { command: process.execPath, args: ["--conditions=coffer-source", join(MCP_PACKAGE, "src", "main.ts")] };
}

/** The configuration that MCP clients take. Names the file with the key, never the key. */
export function clientConfiguration(credentialsFile: string, folder: string): object {
  const { command, args } = launcherCommand();
  return {
    mcpServers: {
      coffer: { command, args: [...args, "--allow", folder], env: { SERVICE_CONFIG_FILE: credentialsFile } },
    },
  };
}

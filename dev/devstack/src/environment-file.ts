/** `env`: what the pages' blocks need to know of a running `npm start`, to be sourced into other shells. */
import { rmSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { quoted } from "./shell-words.ts";

/** Addresses, paths and ids. It has no secret, and nothing that says which keys a program takes: those are the reader's own. */
export interface StackPlace {
  readonly baseUrl: string;
  readonly networkFile: string;
  readonly dataDirectory: string;
  /** The owner's keys. */
  readonly credentialsFile: string;
  /** The keys of the user's agent. */
  readonly agentFile: string;
  /** The vault that the agent is a member of. */
  readonly vaultId: string;
  /** Where the receiver of `npm start` takes deliveries of webhooks. */
  readonly hookUrl: string;
}

export interface EnvironmentFile extends Disposable {
  readonly path: string;
}

/** Beside the owner's keys: where two stacks run on the same data, each has its own. */
export function environmentFileOf(credentialsFile: string): string {
  return join(dirname(credentialsFile), basename(credentialsFile, ".json").replace("credentials", "env"));
}

/** Writes the file, mode 0600, whole or not at all. It goes with its disposal or its process: what it says holds while the stack runs. */
export async function writeEnvironmentFile(place: StackPlace): Promise<EnvironmentFile> {
  const path = environmentFileOf(place.credentialsFile);
  const temporary = `${path}.new`;
  // The mode counts for new files alone.
  await rm(temporary, { force: true });
  await writeFile(temporary, environmentText(place), { mode: 0o600 });
  await rename(temporary, path);
  const remove = (): void => {
    process.off("exit", remove);
    rmSync(path, { force: true });
  };
  // A second signal ends the process at once.
  process.once("exit", remove);
  return { path, [Symbol.dispose]: remove };
}

function environmentText(place: StackPlace): string {
  const variables = {
    SERVICE_BASE_URL: place.baseUrl,
    SERVICE_NETWORK_FILE: place.networkFile,
    COFFER_DATA_DIR: place.dataDirectory,
    COFFER_OWNER_FILE: place.credentialsFile,
    COFFER_AGENT_FILE: place.agentFile,
    COFFER_VAULT_ID: place.vaultId,
    COFFER_HOOK_URL: place.hookUrl,
  };
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${quoted(value)}\n`);
  return `# Of a running npm start, which removes it when it stops. No secret is in here.\n${lines.join("")}`;
}

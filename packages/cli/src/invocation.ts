/** How the reader started this program: the next steps that it prints begin so, and run as they are pasted. */
import { dirname } from "node:path";
import { flagWord, shellWord } from "./shell-word.ts";
import type { Environment } from "./world.ts";

/** The name that is on the PATH once the package is installed. */
export const INSTALLED = "coffer";

/** By the script of the repository, as a file of its own, or installed. `script`: the file that runs, absolute. */
export function invocationOf(env: Environment, script: string, isOneFile: boolean): string {
  if (isOneFile) return `node ${shellWord(script)}`;
  // npm 10 calls it run-script, npm 11 run.
  if (env["npm_lifecycle_event"] !== "coffer" || !/^run(-script)?$/.test(env["npm_command"] ?? "")) return INSTALLED;
  const repository = dirname(env["npm_package_json"] ?? "");
  const start = env["INIT_CWD"] ?? repository;
  const isBelow = start === repository || start.startsWith(`${repository}/`);
  return `npm ${isBelow ? "" : `--prefix ${shellWord(repository)} `}run -s coffer --`;
}

/** The same with the profile that the line named: without it, the next one would work with other keys. */
export const withProfile = (invocation: string, profile: string | undefined): string =>
  profile === undefined ? invocation : `${invocation} ${flagWord("--profile", profile)}`;

const PROFILE = / --profile[ =]/;

/** The text with its commands as the reader can run them. Sentences that only have the name in them stay. A text that names a profile means that one. */
export function asInvoked(text: string, invocation: string): string {
  const [program = invocation] = PROFILE.test(text) ? invocation.split(PROFILE) : [invocation];
  return program === INSTALLED ? text : text.replaceAll(COMMANDS, () => `${program} `);
}

/** The first words of all commands. The table of them imports every command, and this is below them. */
export const COMMAND_NAMES: readonly string[] = [
  "signup",
  "login",
  "logout",
  "whoami",
  "doctor",
  "account",
  "chain",
  "sessions",
  "password",
  "email",
  "billing",
  "mcp",
  "config",
  "profiles",
  "completion",
  "dev",
  "version",
  "upload",
  "download",
  "sync",
  "ls",
  "cat",
  "du",
  "append",
  "stat",
  "mv",
  "rm",
  "verify",
  "folders",
  "trash",
  "versions",
  "search",
  "changes",
  "export",
  "decrypt",
  "vaults",
  "members",
  "agents",
  "invites",
  "api-keys",
  "budgets",
  "webhooks",
  "audit",
];

const COMMANDS = new RegExp(`\\bcoffer (?=(?:--help|${COMMAND_NAMES.join("|")})(?![\\w-]))`, "g");

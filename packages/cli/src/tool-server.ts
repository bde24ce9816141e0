/** The program of the tool server: where it is, and how a host starts it. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { hostsOf, isHostPresent, type Host, type ServerEntry } from "@coffer/tasks/install";
import { resolve } from "node:path";
import type { Context } from "./context.ts";
import { EXIT } from "./exit-codes.ts";
import { CommandFailure, usage } from "./failure.ts";
import type { Program, World } from "./world.ts";

const PROGRAM = join("node_modules", "@coffer", "mcp", "dist", "main.js");

/** In this program, or beside it, wherever npm put both. */
export function toolServer({ self, toolServer: own }: World): Program {
  if (own !== null) return own;
  for (let at = dirname(self.args.at(-1) ?? ""); ; at = dirname(at)) {
    const file = join(at, PROGRAM);
    if (existsSync(file)) return { command: self.command, args: [file] };
    if (at === dirname(at)) break;
  }
  throw new CommandFailure("not_found", {
    message: "The tool server (@coffer/mcp) is not installed beside this program",
    nextStep: "install it from where you got coffer, in a clone npm run setup, and run it again",
  });
}

export interface ServerOptions {
  readonly allow: readonly string[];
  readonly flags: readonly string[];
}

/** What hosts start. The flags are tried now: a host would only show that the server ended. */
export async function serverEntry({ world, globals }: Context, { allow, flags }: ServerOptions): Promise<ServerEntry> {
  const program = toolServer(world);
  const folders = allow.flatMap((folder) => ["--allow", resolve(world.workingDirectory, folder)]);
  const args = [...program.args, ...folders, ...flags];
  if (flags.length > 0 && (await world.run({ command: program.command, args, isTried: true })) === EXIT.usage)
    throw usage("The tool server refuses these flags", "coffer mcp serve -- --help");
  const file = world.env["SERVICE_CONFIG_FILE"] ?? "";
  const profile = globals.profile ?? world.env["SERVICE_PROFILE"] ?? "";
  return {
    command: program.command,
    args,
    env: {
      ...(file === "" ? {} : { SERVICE_CONFIG_FILE: resolve(world.workingDirectory, file) }),
      ...(profile === "" ? {} : { SERVICE_PROFILE: profile }),
    },
  };
}

/** The hosts that were named, else those that are on this machine; with `all` every one. */
export async function chosenHosts(
  { world }: Context,
  names: readonly string[] | undefined,
  all: boolean,
): Promise<readonly Host[]> {
  const hosts = hostsOf(world.env);
  const ids = hosts.map(({ id }) => id).join(", ");
  const strange = (names ?? []).find((name) => !hosts.some(({ id }) => id === name));
  if (strange !== undefined) throw usage(`There is no client ${strange}`, `pass --client with one of ${ids}`);
  if (names !== undefined) return hosts.filter(({ id }) => names.includes(id));
  if (all) return hosts;
  const present = await Promise.all(hosts.map(isHostPresent));
  const presentHosts = hosts.filter((_host, at) => present[at] === true);
  if (presentHosts.length > 0) return presentHosts;
  throw new CommandFailure("not_found", {
    message: "No MCP client was found here",
    nextStep: `pass --client with one of ${ids}`,
  });
}

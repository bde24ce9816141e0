/** The program of the tool server: where it is, and how a host starts it. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { hostsOf, isThere, type Host, type ServerEntry } from "@coffer/tasks/install";
import { resolve } from "node:path";
import type { Context } from "./context.ts";
import { CommandFailure, usage } from "./failure.ts";
import type { World } from "./world.ts";

const PROGRAM = join("node_modules", "@coffer", "mcp", "dist", "main.js");

/** Beside this program, wherever npm put both. */
export function toolServer({ self }: World): string {
  const script = self.args.at(-1);
  for (let at = dirname(script ?? ""); script !== undefined; at = dirname(at)) {
    const file = join(at, PROGRAM);
    if (existsSync(file)) return file;
    if (at === dirname(at)) break;
  }
  throw new CommandFailure("not_found", {
    message: "The tool server (@coffer/mcp) is not installed beside this program",
    nextStep:
      script === undefined
        ? "install all of coffer from where you got it, and use that one for MCP clients"
        : "install it from where you got coffer, in a clone npm run setup, and run it again",
  });
}

export interface ServerWish {
  readonly allow: readonly string[];
  readonly flags: readonly string[];
}

/** What hosts start. The flags are tried now: a host would only show that the server ended. */
export async function serverEntry({ world, globals }: Context, { allow, flags }: ServerWish): Promise<ServerEntry> {
  const program = toolServer(world);
  if (/[/\\]_npx[/\\]/.test(program))
    throw usage(
      "npx empties the folder that this runs from",
      "install coffer from where you got it, then coffer mcp install",
    );
  const folders = allow.flatMap((folder) => ["--allow", resolve(world.workingDirectory, folder)]);
  const args = [program, ...folders, ...flags];
  if (flags.length > 0 && (await world.run({ command: world.self.command, args, isTried: true })) === 2)
    throw usage("The tool server refuses these flags", "coffer mcp serve -- --help");
  const file = world.env["SERVICE_CONFIG_FILE"] ?? "";
  const profile = globals.profile ?? world.env["SERVICE_PROFILE"] ?? "";
  return {
    command: world.self.command,
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
  const known = hosts.map(({ id }) => id).join(", ");
  const strange = (names ?? []).find((name) => !hosts.some(({ id }) => id === name));
  if (strange !== undefined) throw usage(`There is no client ${strange}`, `pass --client with one of ${known}`);
  if (names !== undefined) return hosts.filter(({ id }) => names.includes(id));
  if (all) return hosts;
  const there = await Promise.all(hosts.map(isThere));
  const found = hosts.filter((_host, at) => there[at] === true);
  if (found.length > 0) return found;
  throw new CommandFailure("not_found", {
    message: "No MCP client was found here",
    nextStep: `pass --client with one of ${known}`,
  });
}

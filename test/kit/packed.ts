/** The packed packages, and what npm makes of them in a folder. */
import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import type { TestContext } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");
/** What the SDK's users install. */
export const PUBLISHED = ["contract", "crypto", "chain", "sdk"];
/** What the command line needs beside those. */
export const PROGRAMS = ["tasks", "mcp", "cli"];
/** What npm says when it reaches no registry, and its cache does not have a package. */
const UNREACHABLE = /ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH/;
const PATIENT = [
  "--prefer-offline",
  "--fetch-retries=1",
  "--fetch-retry-mintimeout=1000",
  "--fetch-retry-maxtimeout=1000",
];
const QUIET = ["--no-audit", "--no-fund", "--loglevel=error"];

const execute = promisify(execFile);

/** Packs the built packages into the folder. */
export async function packInto(folder: string, packages: readonly string[]): Promise<void> {
  if (globSync("packages/{sdk,cli}/dist/index.d.ts", { cwd: ROOT }).length < 2)
    throw new Error("build first: npm run build");
  const workspaces = packages.flatMap((name) => ["-w", `packages/${name}`]);
  await npm(["pack", "--silent", ...workspaces, "--pack-destination", folder], ROOT);
}

/** The packed files of packages in the folder. */
export function tarballsIn(folder: string, packages: readonly string[]): string[] {
  return packages.map((name) => {
    const [file] = globSync(`coffer-${name}-*.tgz`, { cwd: folder });
    if (file === undefined) throw new Error(`${name} was not packed`);
    return join(folder, file);
  });
}

/** Runs `npm install` or `npm ci`. Takes packages from npm's cache where it has them, else from the registry; skips the test if neither does. */
export async function fetchWithNpm(context: TestContext, words: readonly string[], cwd: string): Promise<void> {
  try {
    await npm([...words, ...PATIENT], cwd);
  } catch (error) {
    const { message, stderr = "" } = error as Error & { readonly stderr?: string };
    const away = UNREACHABLE.exec(message + stderr)?.[0];
    if (away === undefined) throw error;
    context.skip(`${away}: a package is not in npm's cache, and no registry answers`);
  }
}

/**
 * The environment without what the tests preload, without settings of Coffer, and without what npm says about its own command. Programs
 * that name their interpreter find this Node first.
 */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const { npm_config_local_prefix: _prefix, INIT_CWD: _cwd, NODE_OPTIONS: _options, ...rest } = process.env;
  const env = Object.fromEntries(Object.entries(rest).filter(([name]) => !name.startsWith("SERVICE_")));
  return { ...env, PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}` };
}

async function npm(words: readonly string[], cwd: string): Promise<void> {
  await execute("npm", [...words, ...QUIET], { cwd, env: plainEnvironment(), maxBuffer: 1 << 26 });
}

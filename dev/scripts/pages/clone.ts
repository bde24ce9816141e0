/** What a reader has: a clone of these sources, a home directory of their own, and a machine that meets what the pages ask for. */
import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import path from "node:path";
import { ROOT } from "./documents.ts";

/** Copies the sources as they are now, and what `npm ci` and the build made of them. Of `node_modules` it takes links: nothing writes there. */
export function makeClone(clone: string): void {
  const options = { cwd: ROOT, encoding: "utf8", maxBuffer: 1 << 26 } as const;
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], options);
  const built = globSync("packages/*/dist", { cwd: ROOT });
  mkdirSync(clone, { recursive: true });
  for (const name of new Set([...listed.split("\0").filter((each) => each !== ""), ...built]))
    cpSync(path.join(ROOT, name), path.join(clone, name), { recursive: true, preserveTimestamps: true });
  const modules = path.join(clone, "node_modules");
  mkdirSync(path.join(modules, "@coffer"), { recursive: true });
  for (const name of readdirSync(path.join(ROOT, "node_modules")))
    if (name !== "@coffer" && name !== ".cache")
      symlinkSync(path.join(ROOT, "node_modules", name), path.join(modules, name));
  for (const name of readdirSync(path.join(ROOT, "node_modules", "@coffer")))
    symlinkSync(path.join("..", "..", sourceOf(name)), path.join(modules, "@coffer", name));
}

function sourceOf(name: string): string {
  if (name === "server") return name;
  return path.join(["localnet", "devstack"].includes(name) ? "dev" : "packages", name);
}

/** What a shell of this repository or of its npm scripts has, and a reader who has just opened a terminal has not. */
const NOT_A_READERS =
  /^(SERVICE_|COFFER_|XDG_|npm_(?!config_(registry|cache|userconfig)$)|INIT_CWD$|NODE_OPTIONS$|NODE_ENV$|NO_COLOR$)/;

/**
 * The environment of a reader with this home directory. Node, as the pages ask for it, is first on PATH, in the directory `programs`; programs
 * of this repository are not on it. npm keeps its settings and its cache, which are this machine's.
 */
export function readersEnvironment(home: string, programs: string): NodeJS.ProcessEnv {
  // A home is no temporary directory: `mcp install` registers no program of one.
  const temporary = `${home}.tmp`;
  for (const directory of [home, temporary]) mkdirSync(directory, { recursive: true });
  const { PATH = "", HOME = "", npm_config_userconfig, npm_config_cache } = process.env;
  const found = PATH.split(path.delimiter).filter((directory) => !directory.includes("node_modules"));
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !NOT_A_READERS.test(name))),
    npm_config_userconfig: npm_config_userconfig ?? path.join(HOME, ".npmrc"),
    npm_config_cache: npm_config_cache ?? path.join(HOME, ".npm"),
    npm_config_prefer_offline: "true",
    HOME: home,
    TMPDIR: temporary,
    PATH: [programs, ...found].join(path.delimiter),
  };
}

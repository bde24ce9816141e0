/**
 * The folders a model may name paths in. A path is judged by where it really lies: its parent folder is resolved
 * through every symlink, and the last component is never followed.
 */
import type { Stats } from "node:fs";
import { lstat, readdir, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, parse, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { TaskFailure, type FailureDetails } from "../failure.ts";
import { findLookAlikes, invisibleDifference } from "../look-alikes.ts";
import { untrusted } from "../untrusted.ts";
import { isDenied, ownConfiguration, type DenyList } from "./deny-list.ts";

export interface AllowedFolders {
  /** Real paths. Empty: no path is allowed. */
  readonly folders: readonly string[];
  readonly denied: DenyList;
  /** Configured folders that are not there. Default: none. */
  readonly missing?: readonly string[];
  /** Roots of the client that changed nothing, since they lie in none of the folders. Default: none. */
  readonly ignoredRoots?: readonly string[];
  /** How a path outside is refused. Default: in the words of `path_not_allowed`. */
  readonly outside?: FailureDetails;
}

/** Paths that a person names: all of the file system, but for this product's own settings and keys. */
export function foldersOfPerson(paths: readonly string[], env: Parameters<typeof ownConfiguration>[0]): AllowedFolders {
  const folders = [...new Set(paths.map((path) => parse(path).root))];
  return { folders, denied: { ...ownConfiguration(env, null), isChosen: true } };
}

/** Where a path really lies, and what is there. */
export interface ResolvedPath {
  /** Real path of the parent, then the last component as given. */
  readonly path: string;
  readonly parent: string;
  readonly name: string;
  /** null: nothing is there. Symlinks are not followed. */
  readonly stats: Stats | null;
}

export interface ResolvedFolders {
  /** Real paths. */
  readonly folders: readonly string[];
  /** As they were configured: what is not there, or is no folder. */
  readonly missing: readonly string[];
}

/** Resolves the configured folders. One that is missing allows nothing, and stops nobody. */
export async function resolveFolders(directories: readonly string[]): Promise<ResolvedFolders> {
  const realPaths = await Promise.all(directories.map(resolveFolder));
  const folders = realPaths.filter((folder) => folder !== null);
  return { folders: [...new Set(folders)], missing: directories.filter((_, at) => realPaths[at] === null) };
}

async function resolveFolder(directory: string): Promise<string | null> {
  try {
    const real = await realpath(directory);
    return (await lstat(real)).isDirectory() ? real : null;
  } catch {
    return null;
  }
}

/** How the client's roots count: they `narrow` the folders that they lie in, or `only` what they name is left. */
export type RootsMode = "narrow" | "only";

const ROOTS_ELSEWHERE: FailureDetails = {
  message: "The client's roots lie outside the allowed folders, and --roots only leaves nothing else",
  nextStep:
    "Ask the user to open a folder inside the allowed ones in the client, or to start this server without --roots only.",
};

/**
 * The configured folders cut down by the client's roots; roots never add anything. The user named the folders, and the client does not
 * know them: a folder without a root in it stays as it is, unless only the roots shall count. An empty list of roots changes nothing.
 */
export async function narrowByRoots(
  allowed: AllowedFolders,
  rootUris: readonly string[],
  mode: RootsMode = "narrow",
): Promise<AllowedFolders> {
  if (rootUris.length === 0) return allowed;
  const roots = await Promise.all(rootUris.map(async (uri) => ({ uri, path: await realPathOfRoot(uri) })));
  const folders = allowed.folders.flatMap((folder) => {
    const shared = roots.flatMap(({ path }) => (path === null ? [] : intersection(folder, path)));
    return shared.length === 0 && mode === "narrow" ? [folder] : shared;
  });
  const ignoredRoots = roots
    .filter(({ path }) => path === null || !allowed.folders.some((folder) => intersection(folder, path).length > 0))
    .map(({ uri, path }) => path ?? uri);
  const outside = folders.length === 0 ? ROOTS_ELSEWHERE : allowed.outside;
  return { ...allowed, folders: [...new Set(folders)], ignoredRoots, ...(outside === undefined ? {} : { outside }) };
}

async function realPathOfRoot(uri: string): Promise<string | null> {
  try {
    return await realpath(fileURLToPath(uri));
  } catch {
    return null;
  }
}

function intersection(folder: string, root: string): string[] {
  if (contains(folder, root)) return [root];
  return contains(root, folder) ? [folder] : [];
}

export function contains(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** Whether a real path may be touched: inside a folder, and not denied by name. */
export function isAllowed(allowed: AllowedFolders, path: string): boolean {
  return allowed.folders.some((folder) => contains(folder, path)) && !isDenied(allowed.denied, path);
}

/**
 * Finds where a given path lies. A relative path counts from the first allowed folder.
 * Throws TaskFailure `path_not_allowed`, or `file_not_found` when its folder, inside the allowed ones, does not exist.
 * Outside the allowed folders nothing is said about what exists.
 */
export async function resolvePath(allowed: AllowedFolders, text: string): Promise<ResolvedPath> {
  const first = allowed.folders[0];
  if (first === undefined)
    throw new TaskFailure("path_not_allowed", allowed.outside ?? { message: "No folder is allowed on this server" });
  const problem = textProblem(text);
  if (problem !== null) throw new TaskFailure("path_not_allowed", { message: problem });
  const path = isAbsolute(text) ? resolve(text) : resolve(first, text);
  const parent = await realParent(allowed, path);
  const name = basename(path);
  const real = join(parent, name);
  if (!isAllowed(allowed, real)) throw refusalOf(allowed, real);
  return { path: real, parent, name, stats: await findStats(real) };
}

/** By its name alone, so it does not show what exists: without it a model looks for the fault in the folder. */
function refusalOf({ folders, outside }: AllowedFolders, path: string): TaskFailure {
  if (!folders.some((folder) => contains(folder, path))) return new TaskFailure("path_not_allowed", outside);
  return new TaskFailure("path_not_allowed", {
    message: "By its name or folder it may hold keys or settings, which no tool touches",
    nextStep: "Choose another file. Do not copy or rename this one to get around it.",
  });
}

const LONGEST_PATH = 4096;

/** Forms that other programs would read as something else than a plain path. */
function textProblem(path: string): string | null {
  if (path === "") return "The path is empty";
  if (path.length > LONGEST_PATH) return "The path is too long";
  if (path.includes("\0")) return "The path holds a NUL character";
  if (/^[a-z][a-z0-9+.-]+:/i.test(path)) return "Give a plain path, not a URI";
  if (path.startsWith("~")) return "The path must not start with ~; give the full path";
  if (process.platform === "win32" && isWindowsSpecial(path)) return "Network, device and stream paths are refused";
  return null;
}

/** UNC and device prefixes, alternate data streams, and trailing dots or spaces, which Windows drops. */
function isWindowsSpecial(path: string): boolean {
  return (
    /^[\\/]{2}/.test(path) ||
    path.slice(2).includes(":") ||
    /[. ]([\\/]|$)/.test(path.replaceAll(/(^|[\\/])\.{1,2}(?=[\\/]|$)/g, ""))
  );
}

/** The real path of the parent; for a missing one, judges the nearest folder that exists. */
async function realParent(allowed: AllowedFolders, path: string): Promise<string> {
  const parent = dirname(path);
  try {
    return await realpath(parent);
  } catch (error) {
    const nearest = await nearestExisting(parent);
    if (nearest === null || !isAllowed(allowed, nearest.real))
      throw new TaskFailure("path_not_allowed", { ...allowed.outside, cause: error });
    const details = await lookAlikeDetails(allowed, nearest.real, nearest.missing);
    throw new TaskFailure("file_not_found", {
      ...(details ?? { message: "The folder of the path does not exist" }),
      cause: error,
    });
  }
}

/** A real path, and the name below it that is not there. */
async function nearestExisting(path: string): Promise<{ readonly real: string; readonly missing: string } | null> {
  for (let current = path, missing = ""; ; missing = basename(current), current = dirname(current)) {
    try {
      return { real: await realpath(current), missing };
    } catch {
      if (dirname(current) === current) return null;
    }
  }
}

/** Where nothing is at a place. It names the one entry of the folder that looks the same, if a path may name it at all. */
export async function noSuchFile(allowed: AllowedFolders, { name, parent }: ResolvedPath): Promise<TaskFailure> {
  return new TaskFailure("file_not_found", (await lookAlikeDetails(allowed, parent, name)) ?? {});
}

async function lookAlikeDetails(allowed: AllowedFolders, folder: string, name: string): Promise<FailureDetails | null> {
  if (!isAllowed(allowed, folder)) return null;
  const entries = await readdir(folder).catch(() => []);
  const similar = findLookAlikes(
    name,
    entries.filter((entry) => entry !== name).map((entry) => ({ name: entry })),
  ).filter((entry) => isAllowed(allowed, join(folder, entry.name)));
  const [only, ...others] = similar;
  if (only === undefined || others.length > 0) return null;
  const unseen = invisibleDifference(only.name, name);
  return {
    message: `There is no such name, and one that looks the same${unseen === "" ? "" : ` has ${unseen}`}`,
    nextStep: "If that one is meant, write its name exactly as it is.",
    detail: untrusted(only.name),
  };
}

async function findStats(path: string): Promise<Stats | null> {
  try {
    return await lstat(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")) return null;
    throw error;
  }
}

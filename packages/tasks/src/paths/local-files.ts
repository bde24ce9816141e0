/**
 * Opens a local file for reading, and prepares the place of a download, inside the allowed folders only.
 *
 * The tree can change between a check and a use. On Linux it checks the opened descriptor again by its real location.
 * It hands on a path through that descriptor (`/proc/self/fd`, proc(5)). So a folder swapped for a symlink afterwards
 * changes nothing. Elsewhere it checks the path a second time after the open.
 */
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { lstat, open, readlink, realpath, type FileHandle } from "node:fs/promises";
import { join, resolve } from "node:path";
import { TaskFailure } from "../failure.ts";
import { holdsKnownKey, SCANNED_BYTES } from "../secret-shapes.ts";
import { resolvePath, isAllowed, noSuchFile, type AllowedFolders } from "./allowed-folders.ts";
import { createWriteJudge } from "./write-judge.ts";

/** A local file that stays open until disposed. */
export interface SourceFile extends AsyncDisposable {
  /** Another handle on the very file that was judged, whatever happened to its name. The caller closes it. */
  reopen(): Promise<FileHandle>;
  /** Throws TaskFailure `secret_in_file` if it holds this process's own keys, or what looks like a known key. */
  refuseSecrets(): Promise<void>;
  /** Its real path, for people. */
  readonly path: string;
  readonly name: string;
  /** Bytes at the time of opening. */
  readonly size: number;
}

export interface Destination extends AsyncDisposable {
  /** Where to write: in the very folder that was judged. */
  readonly writePath: string;
  readonly path: string;
  /** Whether the file that is there now may be replaced. */
  readonly replaces: boolean;
}

/** What a download may replace: everything, nothing, or what a function says of a file's real path. */
export type Replacing = boolean | ((path: string) => boolean);

/** O_NONBLOCK: opening a FIFO must not wait for a writer. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const FOLDER_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY;

/** Throws TaskFailure `path_not_allowed`, `file_not_found` or `not_a_file`. */
export async function openSource(allowed: AllowedFolders, path: string): Promise<SourceFile> {
  const resolved = await resolvePath(allowed, path);
  if (resolved.stats === null) throw await noSuchFile(allowed, resolved);
  if (resolved.stats.isSymbolicLink() && allowed.denied.isChosen === true)
    return { ...(await openSource(allowed, await realpath(resolved.path))), name: resolved.name };
  if (resolved.stats.isSymbolicLink()) {
    throw new TaskFailure("path_not_allowed", {
      message: "The path is a symbolic link",
      nextStep: "Name the file that it leads to, where that lies in an allowed folder.",
    });
  }
  if (!resolved.stats.isFile()) throw new TaskFailure("not_a_file");
  const handle = await open(resolved.path, READ_FLAGS);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new TaskFailure("not_a_file");
    const real = await judgeOpened(allowed, handle, resolved.path, stats);
    return {
      reopen: () => reopen(handle, real, stats),
      refuseSecrets: () => refuseSecrets(allowed, handle),
      path: real,
      name: resolved.name,
      size: stats.size,
      [Symbol.asyncDispose]: async () => {
        await handle.close();
      },
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * Judges a path before the service is asked anything.
 * Throws TaskFailure `path_not_allowed`, or `file_not_found` when its folder does not exist.
 */
export async function requireAllowed(allowed: AllowedFolders, path: string): Promise<void> {
  if ((await folderPath(allowed, path)) === null) await resolvePath(allowed, path);
}

/** A folder that stays open until disposed. */
export interface OpenFolder extends AsyncDisposable {
  /** Its real path. */
  readonly path: string;
  /** Leads to this very folder, whatever its name leads to by now. */
  readonly way: string;
}

/**
 * The folder at the path. null: something else is there, or nothing.
 * Throws TaskFailure `path_not_allowed`.
 */
export async function openFolder(allowed: AllowedFolders, text: string): Promise<OpenFolder | null> {
  const path = await folderPath(allowed, text);
  return path === null ? null : await judgeFolder(allowed, path);
}

/** A folder in an open one. Throws TaskFailure `path_not_allowed`, or Node's error for a link. */
export async function openBelow(allowed: AllowedFolders, { way }: OpenFolder, name: string): Promise<OpenFolder> {
  return await judgeFolder(allowed, join(way, name));
}

/** The folder at a real path. Throws TaskFailure `path_not_allowed`, or Node's error for a link. */
export async function judgeFolder(allowed: AllowedFolders, path: string): Promise<OpenFolder> {
  const handle = await open(path, FOLDER_FLAGS);
  try {
    const real = await judgeOpened(allowed, handle, path, await handle.stat());
    return { path: real, way: pathThrough(handle, real), [Symbol.asyncDispose]: () => handle.close() };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** An allowed folder may be named itself: its parent lies outside. */
async function folderPath(allowed: AllowedFolders, text: string): Promise<string | null> {
  const first = allowed.folders[0];
  if (first !== undefined) {
    const path = resolve(first, text);
    if (allowed.folders.includes(path) && isAllowed(allowed, path)) return path;
  }
  const resolved = await resolvePath(allowed, text);
  if (resolved.stats?.isSymbolicLink() === true && allowed.denied.isChosen === true)
    return await linkedFolder(resolved.path);
  return resolved.stats?.isDirectory() === true ? resolved.path : null;
}

async function linkedFolder(link: string): Promise<string | null> {
  const path = await realpath(link).catch(() => null);
  return path !== null && (await lstat(path)).isDirectory() ? path : null;
}

/**
 * The place for a new file or folder, in an existing folder.
 * Throws TaskFailure `path_not_allowed`, `config_file`, `file_not_found` (no such folder), `destination_exists` or `not_a_file`.
 */
export async function openDestination(
  allowed: AllowedFolders,
  path: string,
  overwrite: Replacing,
): Promise<Destination> {
  const resolved = await resolvePath(allowed, path);
  const folder = await open(resolved.parent, FOLDER_FLAGS);
  try {
    const real = await judgeOpened(allowed, folder, resolved.parent, await folder.stat());
    const target = join(real, resolved.name);
    const problem = createWriteJudge(allowed)(target);
    if (problem !== null) throw problem;
    const replaces = typeof overwrite === "boolean" ? overwrite : resolved.stats !== null && overwrite(target);
    if (resolved.stats !== null) judgeExisting(resolved.stats, replaces);
    return {
      writePath: join(pathThrough(folder, real), resolved.name),
      path: target,
      replaces,
      [Symbol.asyncDispose]: async () => {
        await folder.close();
      },
    };
  } catch (error) {
    await folder.close();
    throw error;
  }
}

function judgeExisting(stats: Stats, overwrite: boolean): void {
  if (stats.isSymbolicLink()) {
    throw new TaskFailure("path_not_allowed", {
      message: "The destination is a symbolic link",
      nextStep: "Choose another dest.",
    });
  }
  if (stats.isDirectory()) {
    throw new TaskFailure("not_a_file", {
      message: "The destination is a folder",
      nextStep: "Name the file as well: folder/file.",
    });
  }
  if (!stats.isFile()) throw new TaskFailure("not_a_file");
  if (!overwrite) throw new TaskFailure("destination_exists");
}

const THROUGH_PROC = process.platform === "linux";

function pathThrough(handle: FileHandle, real: string): string {
  return THROUGH_PROC ? `/proc/self/fd/${String(handle.fd)}` : real;
}

async function refuseSecrets({ denied }: AllowedFolders, handle: FileHandle): Promise<void> {
  if (denied.isChosen === true) return;
  const head = Buffer.alloc(SCANNED_BYTES);
  const { bytesRead } = await handle.read(head, 0, SCANNED_BYTES, 0);
  const holds = denied.holdsSecret ?? holdsKnownKey;
  if (holds(head.subarray(0, bytesRead))) throw new TaskFailure("secret_in_file");
}

/** The same for a file of a folder that is sent whole. A file that cannot be read fails later, with its own error. */
export function holdsSecret({ denied }: AllowedFolders, path: string): boolean {
  if (denied.isChosen === true) return false;
  const holds = denied.holdsSecret ?? holdsKnownKey;
  try {
    const descriptor = openSync(path, READ_FLAGS);
    try {
      const head = Buffer.alloc(Math.min(SCANNED_BYTES, fstatSync(descriptor).size));
      return holds(head.subarray(0, readSync(descriptor, head, 0, head.length, 0)));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return false;
  }
}

async function reopen(handle: FileHandle, real: string, stats: Stats): Promise<FileHandle> {
  const again = await open(pathThrough(handle, real), THROUGH_PROC ? constants.O_RDONLY : READ_FLAGS);
  const now = await again.stat();
  if (now.ino === stats.ino && now.dev === stats.dev) return again;
  await again.close();
  throw new TaskFailure("source_changed");
}

/** Where the descriptor really lies, now that it can no longer be exchanged. Throws TaskFailure `path_not_allowed`. */
async function judgeOpened(allowed: AllowedFolders, handle: FileHandle, path: string, stats: Stats): Promise<string> {
  const real = THROUGH_PROC ? await readlink(`/proc/self/fd/${String(handle.fd)}`) : await realpath(path);
  if (!isAllowed(allowed, real)) throw new TaskFailure("path_not_allowed", allowed.outside);
  if (THROUGH_PROC) return real;
  const now = await lstat(real);
  if (now.ino !== stats.ino || now.dev !== stats.dev) throw new TaskFailure("path_not_allowed", allowed.outside);
  return real;
}

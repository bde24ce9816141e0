/**
 * Directories and files of a tree, by what they are: a name can lead elsewhere a moment after it was looked at. On Linux
 * everything in a directory is reached through its open descriptor (`/proc/self/fd`, proc(5)). Elsewhere the name is looked
 * at again afterwards.
 */
import { isError } from "@coffer/contract";
import { constants, existsSync, readlinkSync, realpathSync } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { located } from "../store/durable-file.ts";

const THROUGH_PROC = process.platform === "linux" && existsSync("/proc/self/fd");

/** A directory that stays open until disposed. */
export interface HeldDirectory extends AsyncDisposable {
  /** Leads to this very directory, whatever its name leads to by now. */
  readonly fdPath: string;
  /** @throws Node's error ENOENT if it lies elsewhere by now. */
  readonly verify: () => void;
  /** The same error, with the real path in its words instead of `fdPath`. */
  readonly withRealPath: <Thrown>(error: Thrown) => Thrown;
}

/**
 * Where the directory that a path leads to lies, links resolved. On Linux it asks the open directory: `realpath` reads where
 * `/proc/self/fd` leads and then follows that name, which may be a link a moment later.
 */
export async function realDirectory(path: string): Promise<string> {
  if (!THROUGH_PROC) return await realpath(path);
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    return readlinkSync(`/proc/self/fd/${String(handle.fd)}`);
  } finally {
    await handle.close();
  }
}

/** @throws Node's error, such as ENOENT if the place is a link by now, or below one. */
export async function holdDirectory(place: string): Promise<HeldDirectory> {
  const handle = await open(place, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    requireRealPath(handle.fd, place);
  } catch (error) {
    await handle.close();
    throw error;
  }
  const fdPath = THROUGH_PROC ? `/proc/self/fd/${String(handle.fd)}` : place;
  return {
    fdPath,
    verify: () => {
      requireRealPath(handle.fd, place);
    },
    withRealPath: (error) => {
      if (!isError(error)) return error;
      error.message = error.message.replaceAll(fdPath, place);
      return "path" in error ? located(error, String(error.path).replace(fdPath, place)) : error;
    },
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

/**
 * Whether the descriptor really lies at the place, which is a real path.
 * @throws Node's error ENOENT if it does not.
 */
export function requireRealPath(descriptor: number, place: string): void {
  if ((THROUGH_PROC ? readlinkSync(`/proc/self/fd/${String(descriptor)}`) : realpathSync(place)) === place) return;
  throw Object.assign(new Error(`ENOENT: ${place} is a link now`), { code: "ENOENT" });
}

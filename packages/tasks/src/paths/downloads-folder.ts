/** The one folder that a model's downloads go below. */
import { mkdir, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { TaskFailure, type FailureDetails } from "../failure.ts";
import type { AllowedFolders } from "./allowed-folders.ts";
import { judgeFolder } from "./local-files.ts";

/** In the first allowed folder, where the user named none. */
const USUAL_NAME = "coffer";

/** What a model may do about a path outside. */
export const DOWNLOADS_STEP =
  "Give a dest below downloadsFolder of status_check: a relative one counts from there. The user can move the file from there, or start the server with --downloads DIR.";

const OUTSIDE: FailureDetails = {
  message: "Downloads go below one folder on this server, and the path is outside of it",
  nextStep: DOWNLOADS_STEP,
};

/**
 * The allowed folders of downloads: the one that the user named, else `coffer` in the first of those that are allowed to this call.
 * No folder: nothing can be downloaded.
 */
export async function downloadsOf(allowed: AllowedFolders, configured: string | null): Promise<AllowedFolders> {
  const [first] = allowed.folders;
  const path = configured ?? (first === undefined ? null : join(first, USUAL_NAME));
  if (path === null) return { ...allowed, folders: [] };
  return { ...allowed, folders: [await realLocation(resolve(path))], outside: OUTSIDE };
}

/** Not through a link as the last component: a project could bring one of this name that leads elsewhere. */
async function realLocation(path: string): Promise<string> {
  const parent = await realpath(dirname(path)).catch(() => dirname(path));
  return join(parent, basename(path));
}

/** Makes the folder if its parent exists, for its owner alone. Throws TaskFailure `path_not_allowed` where it cannot be one. */
export async function makeDownloadsFolder(downloads: AllowedFolders): Promise<void> {
  const [folder] = downloads.folders;
  if (folder === undefined) return;
  try {
    const parent = dirname(folder);
    await using holder = await judgeFolder({ ...downloads, folders: [parent] }, parent);
    await mkdir(join(holder.way, basename(folder)), { mode: 0o700 }).catch((error: unknown) => {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    });
    await using opened = await judgeFolder(downloads, folder);
    if (opened.path !== folder) throw new TaskFailure("path_not_allowed");
  } catch (cause) {
    throw new TaskFailure("path_not_allowed", {
      message:
        "The folder for downloads cannot be used: it is no folder, is a link, holds keys or settings, or its parent is missing",
      nextStep: "Tell the user, who can put the folder right or start the server with --downloads DIR.",
      cause,
    });
  }
}

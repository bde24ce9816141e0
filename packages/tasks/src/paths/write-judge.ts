/**
 * What a model's downloads may make. Each is judged by the folders as they would be afterwards. Git takes a folder for a
 * repository by the names in it, and then obeys its configuration. Prompts and editors call Git by themselves.
 */
import { readdirSync, type Dirent } from "node:fs";
import { dirname, sep } from "node:path";
import { TaskFailure } from "../failure.ts";
import { contains, type AllowedFolders } from "./allowed-folders.ts";
import { isConfigFile } from "./config-files.ts";
import { isShortName, spellingsOf } from "./spelling.ts";

/** Why a download may not make a file or folder at a real path; null: it may. */
export type WriteJudge = (path: string) => TaskFailure | null;

/** A judge for one call: it looks into each folder once. A person's downloads are not judged. */
export function createWriteJudge(allowed: AllowedFolders): WriteJudge {
  if (allowed.denied.isChosen === true) return () => null;
  const cache = new Map<string, boolean>();
  const isRepository = (folder: string): boolean => {
    const cached = cache.get(folder) ?? entriesOf(folder).some(makesRepository);
    cache.set(folder, cached);
    return cached;
  };
  return (path) => {
    const top = allowed.folders.find((folder) => contains(folder, path));
    if (top === undefined) return new TaskFailure("path_not_allowed", allowed.outside);
    const names = path.slice(top.length).split(sep);
    if (names.some((name) => isOfGit(name) || isShortName(name)) || top.split(sep).some(isDotGit)) return refusal();
    for (let folder = dirname(path); contains(top, folder); folder = dirname(folder)) {
      if (isRepository(folder)) return refusal();
      if (folder === top) break;
    }
    const isOrder = allowed.denied.allowConfigFiles !== true && isConfigFile(names.join(sep));
    return isOrder ? new TaskFailure("config_file") : null;
  };
}

function refusal(): TaskFailure {
  return new TaskFailure("config_file", {
    message: "Git would take the folder for a repository of its own, and obey what lies there",
    nextStep: "Choose another name or folder for dest: none with HEAD, commondir, gitdir or .git, in any spelling.",
  });
}

function isDotGit(name: string): boolean {
  return spellingsOf(name).includes(".git");
}

/** A bare repository, or what points to one, begins with one of these files: without them Git looks no further. */
const OF_GIT = new Set([".git", "head", "commondir", "gitdir"]);

function isOfGit(name: string): boolean {
  return spellingsOf(name).some((each) => OF_GIT.has(each));
}

/** Judges what is there already. A folder that is called HEAD is none of Git's. */
function makesRepository(entry: Dirent): boolean {
  return entry.isDirectory() ? isDotGit(entry.name) : isOfGit(entry.name);
}

/** A folder that is not there yet has none. One that cannot be read stops the download. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

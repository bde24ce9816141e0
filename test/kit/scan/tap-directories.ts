/**
 * Notes where servers and local chains keep their data: beside their databases. Such a directory is kept until the scan when a test
 * removes it, since a test may only then know what must not be in it.
 */
import fs from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { ScanUnit } from "./unit.ts";

/** Holds what is left of the directories. */
export const KEPT = "kept";

export function tapDirectories(unit: ScanUnit): void {
  tapDatabases(unit);
  const { rm, rmSync } = fs;
  const { rm: rmLater } = fs.promises;
  const keep = (path: unknown): void => {
    if (typeof path === "string") keepBelow(unit, resolve(path));
  };
  fs.rmSync = (path, options) => {
    keep(path);
    rmSync(path, options);
  };
  fs.rm = ((path: never, ...rest: [never]) => {
    keep(path);
    rm(path, ...rest);
  }) as typeof rm;
  fs.promises.rm = async (path, options) => {
    keep(path);
    return rmLater(path, options);
  };
}

/** By the first statement: the exports of this module cannot be replaced, as those of others can. */
function tapDatabases(unit: ScanUnit): void {
  const { prototype } = DatabaseSync;
  const { exec } = prototype;
  const noted = new WeakSet<DatabaseSync>();
  prototype.exec = function (this: DatabaseSync, sql) {
    if (!noted.has(this)) {
      noted.add(this);
      // Null in memory.
      const path = this.location();
      if (path !== null && path !== "") unit.noteDirectory(dirname(path));
    }
    exec.call(this, sql);
  };
}

/** The directories noted so far, by any process of the unit. */
export function notedDirectories(unitDirectory: string): string[] {
  if (!fs.existsSync(unitDirectory)) return [];
  const files = fs.readdirSync(unitDirectory).filter((name) => name.endsWith(".directories"));
  const lines = files.flatMap((name) => fs.readFileSync(join(unitDirectory, name), "utf8").split("\n"));
  return [...new Set(lines.filter((line) => line !== ""))];
}

function keepBelow(unit: ScanUnit, path: string): void {
  // Most of what is removed is one file, and the list of directories is long.
  if (fs.lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  for (const directory of notedDirectories(unit.directory)) {
    if (directory !== path && !directory.startsWith(path + sep)) continue;
    if (!fs.existsSync(directory)) continue;
    fs.mkdirSync(join(unit.directory, KEPT), { recursive: true });
    const kept = fs.mkdtempSync(join(unit.directory, KEPT, `${basename(directory)}-`));
    try {
      keepFiles(directory, kept);
    } catch (error) {
      unit.noteProblem(`${basename(directory)} could not be kept: ${String(error)}`);
    }
  }
}

/** All that is no directory. What goes while it is looked at, as another process may be about to remove it too, is left out. */
export function entriesBelow(directory: string): fs.Dirent[] {
  try {
    const entries = fs.readdirSync(directory, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isDirectory() ? entriesBelow(join(directory, entry.name)) : [entry]));
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

export function isGone(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/** Links, no copies: what is about to be removed costs nothing to keep. */
function keepFiles(directory: string, kept: string): void {
  for (const entry of entriesBelow(directory)) {
    if (!entry.isFile()) continue;
    const from = join(entry.parentPath, entry.name);
    const to = join(kept, relative(directory, from));
    try {
      fs.mkdirSync(dirname(to), { recursive: true });
      fs.linkSync(from, to);
    } catch (error) {
      // Another file system, such as the small ones that tests fill; or gone, as a write-ahead log does.
      if (error instanceof Error && "code" in error && error.code === "EXDEV") fs.copyFileSync(from, to);
      else if (!isGone(error)) throw error;
    }
  }
}

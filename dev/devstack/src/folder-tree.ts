/** What is in a folder, as far as it can be stored. Whatever is left out is named with its reason. */
import type { Dirent } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { MAX_FOLDER_DEPTH, newNameProblem } from "@coffer/contract";

export interface LocalFile {
  /** Path from the folder's top, parts in order. */
  readonly parts: readonly string[];
  readonly path: string;
  readonly size: number;
}

export interface Skipped {
  /** Path from the folder's top. */
  readonly path: string;
  readonly reason: string;
}

export interface FolderTree {
  /** Parents before children. */
  readonly folders: readonly (readonly string[])[];
  readonly files: readonly LocalFile[];
  readonly skipped: readonly Skipped[];
}

/** Reads a folder to the bottom, in the order of names. `without` (a real path) is left out with all below it. */
export async function readTree(top: string, without: string): Promise<FolderTree> {
  const tree: { folders: string[][]; files: LocalFile[]; skipped: Skipped[] } = { folders: [], files: [], skipped: [] };
  const waiting: string[][] = [[]];
  for (let parts = waiting.shift(); parts !== undefined; parts = waiting.shift()) {
    for (const entry of await entriesOf(join(top, ...parts))) {
      const inner = [...parts, entry.name.toString()];
      const path = join(top, ...inner);
      const reason = path === without ? "the stack's own data" : reasonToSkip(entry, inner);
      if (reason !== null) tree.skipped.push({ path: inner.join("/"), reason });
      else if (entry.isFile()) tree.files.push({ parts: inner, path, size: (await lstat(path)).size });
      else {
        tree.folders.push(inner);
        waiting.push(inner);
      }
    }
  }
  return tree;
}

async function entriesOf(folder: string): Promise<Dirent<Buffer>[]> {
  const entries = await readdir(folder, { withFileTypes: true, encoding: "buffer" });
  return entries.sort((a, b) => Buffer.compare(a.name, b.name));
}

function reasonToSkip(entry: Dirent<Buffer>, parts: readonly string[]): string | null {
  if (entry.isSymbolicLink()) return "symbolic links are not followed";
  if (!entry.isFile() && !entry.isDirectory()) return "not a regular file";
  if (!entry.name.equals(Buffer.from(entry.name.toString()))) return "the name is not UTF-8";
  if (entry.isDirectory() && parts.length > MAX_FOLDER_DEPTH) return `deeper than ${String(MAX_FOLDER_DEPTH)} folders`;
  return null;
}

/** The name under which the service can keep it: what no name may hold becomes `_`. */
export function storableName(name: string): string {
  if (newNameProblem(name) === null) return name;
  const replaced = Array.from(name, (one) => (newNameProblem(`_${one}_`) === null ? one : "_"))
    .join("")
    .trim();
  return newNameProblem(replaced) === null ? replaced : `_${replaced.slice(0, 60).toWellFormed()}_`;
}

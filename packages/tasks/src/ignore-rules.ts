/** Which files of a folder stay out of a transfer: the patterns of `.cofferignore` at its top and those of the call, as Git reads them. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import ignore from "ignore";
import { TaskFailure } from "./failure.ts";

export const IGNORE_FILE = ".cofferignore";
/** Of the file. Bytes. */
const MOST_BYTES = 1 << 20;

/** Patterns in the syntax of gitignore(5). */
export interface PathRules {
  readonly exclude: readonly string[];
  /** What `exclude` and the file leave out, and these do not. */
  readonly include: readonly string[];
}

export const NO_RULES: PathRules = { exclude: [], include: [] };

/** Whether a path below the folder, with `/` between names, is part of the transfer. */
export type Keeps = (path: string, kind: "file" | "folder") => boolean;

/** @throws TaskFailure `invalid_arguments` for a `.cofferignore` that is no short text. */
export async function keptPaths(folder: string, { exclude, include }: PathRules): Promise<Keeps> {
  const rules = ignore()
    .add(await readIgnoreFile(join(folder, IGNORE_FILE)))
    .add([...exclude, ...include.map((pattern) => `!${pattern}`)]);
  return (path, kind) => !ignore.isPathValid(path) || !rules.ignores(kind === "folder" ? `${path}/` : path);
}

/** Empty where there is none. A link is none: it may lead out of the folder. */
async function readIgnoreFile(path: string): Promise<string> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile()) return "";
    if (stats.size <= MOST_BYTES) return await file.readFile("utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && /^(ENOENT|ENOTDIR|ELOOP)$/.test(String(error.code))) return "";
    throw error;
  }
  throw new TaskFailure("invalid_arguments", { message: `${IGNORE_FILE} has more than 1 MiB` });
}

/** What is below a directory of this machine. Links are never followed, so nothing outside of it is read. */
import { isUtf8 } from "node:buffer";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { BigIntStats, Dirent } from "node:fs";
import { nameProblem } from "@coffer/contract";
import { fileErrorCode } from "../store/durable-file.ts";
import { markOf, type Mark } from "../files/file-mark.ts";
import { isLeftover, removeLeftover } from "../files/download-file.ts";
import { holdDirectory } from "./held-directory.ts";
import { inLanes } from "../../http/concurrency.ts";
import { pathIn, throwIfAborted, type Outcome } from "./outcome.ts";
import { isLocalTrash } from "./trash-name.ts";

export interface LocalFile {
  /** Names in NFC, as the service has them. */
  readonly path: string;
  /** Absolute, as the directory has the names. */
  readonly place: string;
  readonly mark: Mark;
}

export interface LocalTree {
  readonly files: ReadonlyMap<string, LocalFile>;
  /** Paths and places, folders before what is in them. */
  readonly folders: ReadonlyMap<string, string>;
}

export interface WalkOptions {
  readonly outcome: Outcome;
  readonly signal: AbortSignal | undefined;
  /** Removes what killed downloads left. */
  readonly removeLeftovers: boolean;
}

const STAT_LANES = 16;

/** `root` is a real path. A directory that cannot be read is a failure of the result; the root's is an error. */
export async function walk(root: string, options: WalkOptions): Promise<LocalTree> {
  const files = new Map<string, LocalFile>();
  const folders = new Map<string, string>([["", root]]);
  // A map can grow while it is iterated: folders that turn up are walked after those before them.
  for (const [folder, place] of folders) {
    throwIfAborted(options.signal);
    try {
      await walkFolder(folder, place, { files, folders, options });
    } catch (error) {
      if (folder === "") throw error;
      if (fileErrorCode(error) === "ENOENT") {
        folders.delete(folder);
        options.outcome.doubt(folder);
      } else options.outcome.fail(folder, error);
    }
  }
  folders.delete("");
  return { files, folders };
}

interface WalkResult {
  readonly files: Map<string, LocalFile>;
  readonly folders: Map<string, string>;
  readonly options: WalkOptions;
}

async function walkFolder(folder: string, place: string, result: WalkResult): Promise<void> {
  const { outcome, removeLeftovers } = result.options;
  await using held = await holdDirectory(place);
  const entries = await readdir(held.fdPath, { withFileTypes: true });
  // Node replaces what it cannot decode, and then finds nothing under the name.
  if (entries.some(({ name }) => name.includes(REPLACEMENT)))
    for (const name of await namesNotUtf8(held.fdPath)) {
      outcome.refuse(pathIn(folder, name), "invalid_name", `The name ${name} is not UTF-8`, RENAME);
      outcome.doubt(folder);
    }
  held.verify();
  const plain: Dirent[] = [];
  for (const entry of entries) {
    const path = pathIn(folder, entry.name.normalize("NFC"));
    if (isLeftover(entry.name)) {
      if (removeLeftovers) await removeLeftover(join(held.fdPath, entry.name));
    } else if (isLocalTrash(entry.name)) outcome.skip(path, "trash");
    else if (entry.isSymbolicLink()) outcome.skip(path, "link");
    else if (!entry.isFile() && !entry.isDirectory()) outcome.skip(path, "special");
    else if (isFit(path, entry.name, result)) plain.push(entry);
  }
  await inLanes(plain, STAT_LANES, async ({ name }) => {
    const path = pathIn(folder, name.normalize("NFC"));
    const stats = await statsOrNull(join(held.fdPath, name));
    if (stats === null) {
      if (!name.includes(REPLACEMENT)) outcome.doubt(path);
      return;
    }
    if (!stats.isFile() && !stats.isDirectory()) return;
    if (result.files.has(path) || result.folders.has(path))
      outcome.refuse(
        path,
        "name_collision",
        `Two names here are both ${JSON.stringify(path)} at the service`,
        RENAME_ONE,
      );
    else if (stats.isDirectory()) result.folders.set(path, join(place, name));
    else result.files.set(path, { path, place: join(place, name), mark: markOf(stats) });
  });
}

const RENAME = "Rename it, then call again.";
const RENAME_ONE = "Rename one of them, then call again.";
const REPLACEMENT = "\u{fffd}";

/** Names in the directory that are not UTF-8, with each byte that is not printable ASCII as hexadecimal digits: `caf\xe9.txt`. */
export async function namesNotUtf8(directory: string): Promise<string[]> {
  const names = await readdir(directory, { encoding: "buffer" });
  return names.filter((name) => !isUtf8(name)).map(escapedName);
}

function escapedName(name: Buffer): string {
  return Array.from(name.toString("latin1"), (byte) => {
    const code = byte.charCodeAt(0);
    return code >= 0x20 && code < 0x7f ? byte : `\\x${code.toString(16).padStart(2, "0")}`;
  }).join("");
}

function isFit(path: string, name: string, { options: { outcome } }: WalkResult): boolean {
  const problem = nameProblem(name);
  if (problem === null) return true;
  outcome.refuse(
    path,
    "invalid_name",
    `${JSON.stringify(name)} cannot be a name at the service: it ${problem}`,
    RENAME,
  );
  return false;
}

/** null: it has vanished since its directory was read. */
async function statsOrNull(place: string): Promise<BigIntStats | null> {
  try {
    return await lstat(place, { bigint: true });
  } catch (error) {
    if (fileErrorCode(error) === "ENOENT") return null;
    throw error;
  }
}

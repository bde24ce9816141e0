/** The files of an export, under their names in a directory of this machine. */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { lstat, mkdir, open } from "node:fs/promises";
import { join, resolve } from "node:path";
import { nameProblem } from "@coffer/contract";
import type { ExportedFile, ExportedFolder, OpenedExport } from "../../shared-vaults/export/opened-export.ts";
import { destinationExists, writeWhole } from "./download-file.ts";
import { fileErrorCode, syncDirectory } from "../store/durable-file.ts";
import { holdDirectory, realDirectory } from "../folders/held-directory.ts";
import { inLanes } from "../../http/concurrency.ts";
import type { FolderFailure, FolderProgress } from "../folders/options.ts";
import { nameOf, Outcome, parentOf, pathIn, throwIfAborted } from "../folders/outcome.ts";
import { writeNewFile } from "./new-file.ts";
import { ProgressCount } from "../folders/folder-job.ts";

export interface SaveExportOptions {
  /** Replaces files that exist in the directory. Default: false; they are left alone, and those of another content are named in `failed`. */
  readonly overwrite?: boolean | undefined;
  /** Ends the call when it aborts. What is written by then stays. Default: it runs to its end. */
  readonly signal?: AbortSignal | undefined;
  /** Called as files are written. Default: no function. */
  readonly onProgress?: ((progress: FolderProgress) => void) | undefined;
}

/** A file that was written. */
export interface SavedFile {
  /** Path below the directory, with `/` between names. */
  readonly path: string;
  /** UUID of the file. */
  readonly fileId: string;
  /** Bytes of the content. */
  readonly size: number;
  /** SHA-256 of the content: 64 lower-case hex digits. */
  readonly sha256: string;
}

export interface SavedExport {
  /** A receipt for each file. */
  readonly files: readonly SavedFile[];
  /** Files that were there already, with the same content. */
  readonly unchanged: readonly SavedFile[];
  /** What could not be written, or is not true. The others went on. */
  readonly failed: readonly FolderFailure[];
  /** Files that were in the trash: they are left out. */
  readonly trashed: number;
}

const LANES = 4;
const RENAME = "Read it by its id: `read` of the opened export.";

/**
 * Writes the files of an export into a directory, under their names, without the service. Each is whole, verified, of
 * mode 0600, or absent. Nothing is written outside of the directory, whatever the names are.
 *
 * @example
 * ```ts
 * const opened = await openExport("research.export", { signer, network });
 * const { files, failed } = await saveExport(opened, "research");
 * ```
 */
export async function saveExport(
  opened: OpenedExport,
  directory: string,
  { onProgress, overwrite = false, signal }: SaveExportOptions = {},
): Promise<SavedExport> {
  await mkdir(resolve(directory), { recursive: true, mode: 0o700 });
  const root = await realDirectory(resolve(directory));
  const outcome = new Outcome();
  const folders = await foldersOf(opened, outcome);
  const listed = await filesOf(opened, folders, outcome);
  const places = await makeFolders(root, [...folders.values()], outcome);
  const progress = new ProgressCount(onProgress);
  progress.start(
    listed.files.size,
    [...listed.files.values()].reduce((sum, { size }) => sum + size, 0),
  );
  const files: SavedFile[] = [];
  const unchanged: SavedFile[] = [];
  await inLanes(listed.files, LANES, async ([path, file]) => {
    throwIfAborted(signal);
    const place = places.get(parentOf(path));
    if (place === undefined) {
      outcome.refuse(
        path,
        "parent_failed",
        `The folder of ${JSON.stringify(path)} could not be made`,
        "See its own line.",
      );
      return;
    }
    try {
      const { sha256, isNew } = await save(opened, file, { place, path, overwrite, signal });
      (isNew ? files : unchanged).push({ path, fileId: file.id, size: file.size, sha256 });
    } catch (error) {
      outcome.fail(path, error);
    }
    progress.done({ path, size: file.size });
  });
  await inLanes(places.values(), LANES, syncDirectory);
  return { files, unchanged, failed: outcome.failed, trashed: listed.trashed };
}

/** Paths by id, parents first. What leads nowhere, or has a name that can be none here, is left out with all below it. */
async function foldersOf(opened: OpenedExport, outcome: Outcome): Promise<Map<string, string>> {
  const children = new Map<string | null, ExportedFolder[]>();
  for await (const folder of opened.folders())
    if (folder.trashedAt === null) children.set(folder.parentId, [...(children.get(folder.parentId) ?? []), folder]);
  const paths = new Map<string, string>();
  const usedPaths = new Set<string>();
  const addChildren = (parent: string | null, at: string): void => {
    for (const { id, name } of children.get(parent) ?? []) {
      const path = fit(at, id, name, usedPaths, outcome);
      if (path === null || paths.has(id)) continue;
      paths.set(id, path);
      addChildren(id, path);
    }
  };
  addChildren(null, "");
  return paths;
}

async function filesOf(
  opened: OpenedExport,
  folders: ReadonlyMap<string, string>,
  outcome: Outcome,
): Promise<{ readonly files: ReadonlyMap<string, ExportedFile>; readonly trashed: number }> {
  const usedPaths = new Set(folders.values());
  const files = new Map<string, ExportedFile>();
  let trashed = 0;
  for await (const file of opened.files()) {
    const at = file.folderId === null ? "" : folders.get(file.folderId);
    if (file.trashedAt !== null) trashed += 1;
    else if (at === undefined)
      outcome.refuse(file.id, "parent_failed", `The folder of ${file.id} is not there`, RENAME);
    else {
      const path = fit(at, file.id, file.name, usedPaths, outcome);
      if (path !== null) files.set(path, file);
    }
  }
  return { files, trashed };
}

/** null: the name can be none here. */
function fit(at: string, id: string, name: string, usedPaths: Set<string>, outcome: Outcome): string | null {
  const path = pathIn(at, name.normalize("NFC"));
  const problem = nameProblem(name);
  const shown = pathIn(at, id);
  if (problem !== null)
    outcome.refuse(shown, "invalid_name", `The name of ${id} cannot be a file's: it ${problem}`, RENAME);
  else if (usedPaths.has(path))
    outcome.refuse(shown, "name_collision", `Two items are ${JSON.stringify(path)}`, RENAME);
  else {
    usedPaths.add(path);
    return path;
  }
  return null;
}

/** Places by path, the root's too. */
async function makeFolders(root: string, paths: readonly string[], outcome: Outcome): Promise<Map<string, string>> {
  const places = new Map([["", root]]);
  for (const path of paths) {
    const parent = places.get(parentOf(path));
    if (parent === undefined) continue;
    try {
      await using held = await holdDirectory(parent);
      held.verify();
      await mkdir(join(held.fdPath, nameOf(path)), 0o700).catch((error: unknown) => {
        if (fileErrorCode(error) !== "EEXIST") throw held.withRealPath(error);
      });
      const place = join(parent, nameOf(path));
      await (await holdDirectory(place))[Symbol.asyncDispose]();
      places.set(path, place);
    } catch (error) {
      outcome.fail(path, error);
    }
  }
  return places;
}

interface SaveTarget {
  readonly place: string;
  readonly path: string;
  readonly overwrite: boolean;
  readonly signal: AbortSignal | undefined;
}

async function save(
  opened: OpenedExport,
  file: ExportedFile,
  { overwrite, path, place, signal }: SaveTarget,
): Promise<{ readonly sha256: string; readonly isNew: boolean }> {
  const { id, size: length } = file;
  await using held = await holdDirectory(place);
  const hash = createHash("sha256");
  try {
    const presentDigest = overwrite ? null : await digestOf(join(held.fdPath, nameOf(path)), length);
    if (presentDigest !== null) {
      for await (const piece of untilAborted(opened.read(id), signal)) hash.update(piece);
      if (hash.digest("hex") === presentDigest) return { sha256: presentDigest, isNew: false };
      throw destinationExists(path);
    }
    await writeWhole(join(held.fdPath, nameOf(path)), overwrite, async (temporary) => {
      await writeNewFile(temporary, untilAborted(opened.read(id), signal), { hash, length });
      held.verify();
    });
  } catch (error) {
    throw held.withRealPath(error);
  }
  return { sha256: hash.digest("hex"), isNew: true };
}

/** The digest of a file of that size; null: there is none. No link is followed. */
async function digestOf(path: string, size: number): Promise<string | null> {
  const found = await lstat(path).catch(() => null);
  if (found?.isFile() !== true || found.size !== size) return null;
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const hash = createHash("sha256");
  for await (const piece of file.createReadStream({ autoClose: false })) hash.update(piece as Uint8Array);
  return hash.digest("hex");
}

async function* untilAborted(pieces: AsyncIterable<Uint8Array>, signal: AbortSignal | undefined) {
  for await (const piece of pieces) {
    throwIfAborted(signal);
    yield piece;
  }
}

/** Brings back what syncs took out of a directory, from the local trash. */
import { lstat, mkdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ContractError } from "../../http/errors.ts";
import { type Fields, refuseUnknownFields } from "../../http/required-fields.ts";
import { destinationExists, placeFile } from "../files/download-file.ts";
import { fileErrorCode, syncDirectory } from "../store/durable-file.ts";
import { markOf } from "../files/file-mark.ts";
import { holdDirectory, realDirectory, type HeldDirectory } from "./held-directory.ts";
import type { LocalFile } from "./local-tree.ts";
import type { RestoredFile, RestoreRemovedOptions, RestoreRemovedResult } from "./options.ts";
import { nameOf, Outcome, parentOf, throwIfAborted } from "./outcome.ts";
import { deleteRun, isOfTree, trashedRuns, trashedIn, TrashRun, type TrashedRun, type TrashedFile } from "./trash.ts";

const FIELDS: Fields<RestoreRemovedOptions> = { since: true, overwrite: true, dryRun: true, signal: true };

export async function restoreTree(directory: string, options: RestoreRemovedOptions): Promise<RestoreRemovedResult> {
  refuseUnknownFields("restoreRemoved", options, FIELDS);
  const { dryRun = false } = options;
  const since = options.since === undefined ? null : options.since.getTime();
  if (Number.isNaN(since)) throw new ContractError("request", "restoreRemoved", ["since: expected a valid Date"]);
  const root = await realDirectory(resolve(directory));
  const restore: RestoreState = { root, options, outcome: new Outcome(), files: [], folders: [], done: new Set() };
  for (const run of await trashedRuns(root)) {
    if (!isOfTree(run, root)) continue;
    if (since !== null && run.at < since) break;
    const hasSomething = await restoreRun(restore, run);
    if (since === null && hasSomething) break;
  }
  const { files, folders, outcome } = restore;
  return { dryRun, files, folders, failed: outcome.failed };
}

interface RestoreState {
  readonly root: string;
  readonly options: RestoreRemovedOptions;
  readonly outcome: Outcome;
  readonly files: RestoredFile[];
  readonly folders: string[];
  /** Paths that came from a newer call: an older one does not replace them. */
  readonly done: Set<string>;
}

/** Whether the call has anything that could come back. */
async function restoreRun(restore: RestoreState, run: TrashedRun): Promise<boolean> {
  const { done, files, folders, options, outcome, root } = restore;
  const { dryRun = false, overwrite = false, signal } = options;
  await using held = await holdDirectory(run.place);
  const trashed = await trashedIn(held, run);
  const missing: string[] = [];
  for (const path of run.folders) if ((await presentAt(root, path)) === null) missing.push(path);
  if (trashed.length === 0 && missing.length === 0) return false;
  const present = new Map<string, LocalFile | "other">();
  for (const { path } of trashed) {
    const there = await presentAt(root, path);
    if (there !== null) present.set(path, there);
  }
  const replaced = trashed.flatMap(({ path }) => {
    const there = present.get(path);
    return overwrite && there !== undefined && there !== "other" && !done.has(path) ? [there] : [];
  });
  // What gives way here is kept, too.
  await using trash =
    dryRun || replaced.length === 0 ? null : await TrashRun.open(root, { files: replaced, folders: [] }, Date.now());
  const removedAt = new Date(run.at).toISOString();
  for (const path of missing) {
    if (!dryRun && !(await attempt(outcome, path, () => makeFolder(root, path)))) continue;
    folders.push(path);
  }
  for (const file of trashed) {
    throwIfAborted(signal);
    const { path, size } = file;
    const there = present.get(path);
    if (done.has(path) || (there !== undefined && !overwrite)) files.push({ path, act: "exists", size, removedAt });
    else {
      if (!dryRun && !(await attempt(outcome, path, () => restoreFile({ root, held, trash }, file, there)))) continue;
      done.add(path);
      files.push({ path, act: "restored", size, removedAt });
    }
  }
  if (!dryRun && (await trashedIn(held, run)).length === 0) await deleteRun(held, run.place);
  return true;
}

async function attempt(outcome: Outcome, path: string, act: () => Promise<void>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    outcome.fail(path, error);
    return false;
  }
}

interface RestoreRoute {
  readonly root: string;
  /** The trash's directory of the call. */
  readonly held: HeldDirectory;
  readonly trash: TrashRun | null;
}

async function restoreFile(
  { held, root, trash }: RestoreRoute,
  { name, path }: TrashedFile,
  there: LocalFile | "other" | undefined,
): Promise<void> {
  if (there === "other") throw destinationExists(join(root, path));
  await using folder = await holdFolder(root, parentOf(path));
  if (there !== undefined) await trash?.moveIn(folder, there);
  const [from, to] = [join(held.fdPath, name), join(folder.fdPath, nameOf(path))];
  try {
    folder.verify();
    held.verify();
    await placeFile(from, to, false);
    await syncDirectory(folder.fdPath);
    await rm(from, { force: true });
  } catch (error) {
    throw held.withRealPath(folder.withRealPath(error));
  }
}

async function makeFolder(root: string, path: string): Promise<void> {
  await (await holdFolder(root, path))[Symbol.asyncDispose]();
}

/** The folder of the tree, made with those above it where they are missing. No link of the tree is followed. */
async function holdFolder(root: string, path: string): Promise<HeldDirectory> {
  if (path !== "") {
    await using above = await holdFolder(root, parentOf(path));
    above.verify();
    await mkdir(join(above.fdPath, nameOf(path)), 0o700).catch((error: unknown) => {
      if (fileErrorCode(error) !== "EEXIST") throw above.withRealPath(error);
    });
  }
  return await holdDirectory(join(root, path));
}

/** What lies at a path of the tree now: a file, `other` for anything else, null for nothing. */
async function presentAt(root: string, path: string): Promise<LocalFile | "other" | null> {
  const place = join(root, path);
  try {
    await using folder = await holdDirectory(join(root, parentOf(path)));
    const stats = await lstat(join(folder.fdPath, nameOf(path)), { bigint: true });
    return stats.isFile() ? { path, place, mark: markOf(stats) } : "other";
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP"].includes(fileErrorCode(error) ?? "")) return null;
    throw error;
  }
}

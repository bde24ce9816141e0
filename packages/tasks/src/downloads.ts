/** Files and folders of a vault into local folders. */
import { keptPaths, NO_RULES, type PathRules } from "./ignore-rules.ts";
import { mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import type { File, Folder } from "@coffer/sdk";
import type { FolderOptions, FolderResult } from "@coffer/sdk/node";
import { stepFor, TaskFailure, toFailure } from "./failure.ts";
import { resolvePath, isAllowed, type AllowedFolders } from "./paths/allowed-folders.ts";
import { openDestination, openFolder, type Destination, type OpenFolder, type Replacing } from "./paths/local-files.ts";
import { createWriteJudge } from "./paths/write-judge.ts";
import { runConcurrently } from "./concurrency.ts";
import type { Task } from "./task.ts";
import { TransferCount } from "./transfer-count.ts";
import { fileMark, type Overwrite } from "./overwrites.ts";
import { failedRow, reporter, rowsOf, type TransferRow } from "./uploads.ts";

export interface DownloadPlan {
  /** A local file for a single file, else a local folder, which is made if its parent exists. */
  readonly dest: string;
  readonly overwrite: Replacing;
  /** Existing files stay as they are, and count as skipped. */
  readonly skips: boolean;
  /** Id of a version, of a single file. null: the current one. */
  readonly versionId: string | null;
  /** A part of a single file. */
  readonly range: { readonly offset: number; readonly length?: number } | null;
  /** The stored bytes, encrypted as they are in a shared vault. */
  readonly ciphertext: boolean;
  /** What stays out of folders, beside the `.cofferignore` of the local one. Default: nothing. */
  readonly rules?: PathRules | undefined;
}

/** What a single file became here. */
export interface DownloadedFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Writes one file: to `dest`, or below it where `dest` is a folder. */
export async function downloadOne(
  task: Task,
  allowed: AllowedFolders,
  file: File,
  plan: DownloadPlan,
): Promise<DownloadedFile> {
  const path = await destinationPath(allowed, file.name, plan.dest);
  await using destination = await openDestination(allowed, path, plan.overwrite);
  const { downloadFile } = await import("@coffer/sdk/node");
  const done = await downloadFile(await task.clientFor(null), file.id, destination.writePath, {
    overwrite: destination.replaces,
    ciphertext: plan.ciphertext,
    ...(plan.range === null ? {} : { range: plan.range }),
    ...(plan.versionId === null ? {} : { versionId: plan.versionId }),
    signal: task.signal,
    onProgress: ({ bytes, total }) => {
      task.progress(bytes, total ?? file.size);
    },
  }).catch((thrown: unknown) => {
    throw withPersonsPath(thrown, destination);
  });
  return { path: destination.path, bytes: done.bytes, sha256: done.sha256 };
}

/** Below a folder that is named, a file gets its own name. */
async function destinationPath(allowed: AllowedFolders, name: string, dest: string): Promise<string> {
  await using folder = await openFolder(allowed, dest);
  return folder === null ? dest : join(folder.path, localName(name));
}

/** The local files that a download of these files to `dest` would replace. */
export async function findFileOverwrites(
  allowed: AllowedFolders,
  files: readonly File[],
  dest: string,
): Promise<Overwrite[]> {
  const overwrites: Overwrite[] = [];
  for (const { id: fileId, name, versionId } of files) {
    const target = await destinationPath(allowed, name, dest);
    const { path } = await resolvePath(allowed, target);
    const mark = fileMark(path);
    if (mark !== null) overwrites.push({ path, mark, fileId, versionId });
  }
  return overwrites;
}

/** The system's error, with the place in the person's words. */
function withPersonsPath(thrown: unknown, { path, writePath }: Destination): unknown {
  if (thrown instanceof Error && "path" in thrown && thrown.path === writePath) thrown.path = path;
  return thrown;
}

/** A name that others gave becomes one of a local file only if it is a plain one. */
function localName(name: string): string {
  const isPlain = name !== "" && name !== "." && name !== ".." && !/[/\\\0]/.test(name);
  if (isPlain) return name;
  throw new TaskFailure("invalid_arguments", {
    message: "The file's name cannot be one of a local file",
    nextStep: "Name the local file in dest.",
  });
}

/** Files on their way at once. */
const CONCURRENCY = 4;

/** Writes each file below the folder `dest`, several at once. Two of one name are refused, not numbered. */
export async function downloadMany(
  task: Task,
  allowed: AllowedFolders,
  files: readonly File[],
  plan: DownloadPlan,
): Promise<TransferRow[]> {
  await using folder = await ensureDirectory(allowed, plan.dest);
  const directory = folder.path;
  const count = new TransferCount(task);
  const counted = files.map(({ name, size }) => count.add(name, size));
  const rows: TransferRow[] = [];
  await runConcurrently(files, CONCURRENCY, async (file, at) => {
    const path = file.name;
    try {
      const dest = join(directory, localName(path));
      const { bytes, sha256 } = await downloadOne(counted[at] ?? task, allowed, file, { ...plan, dest });
      rows[at] = { path, act: "created", fileId: file.id, bytes, sha256, code: null, why: null };
    } catch (thrown) {
      const failure = toFailure(thrown, task.signal);
      if (failure.code === "cancelled" || failure.code === "signed_out") throw failure;
      const isSkipped = plan.skips && failure.code === "destination_exists";
      rows[at] = isSkipped ? { ...failedRow(path, failure), act: "skipped" } : failedRow(path, failure);
    } finally {
      counted[at]?.end();
    }
  });
  return rows;
}

/**
 * Writes a folder, or with null all of the vault, below `dest`: under its own name if `dest` exists, else as `dest`. A repeat
 * goes on where the first one went.
 */
export async function downloadFolderTo(
  task: Task,
  allowed: AllowedFolders,
  vaultId: string,
  folder: Folder | null,
  plan: DownloadPlan,
): Promise<TransferRow[]> {
  const dest = (await folderBelow(task, allowed, vaultId, folder, plan.dest)) ?? plan.dest;
  await using open = await ensureDirectory(allowed, dest);
  const result = await fetchFolder(task, allowed, vaultId, folder, open, {
    rules: plan.rules,
    overwrite: overwriteOption(plan.overwrite),
    onProgress: reporter(task, basename(open.path)),
  });
  return rowsOf(result, basename(open.path), { skips: plan.skips, differs: stepFor("destination_exists") });
}

/** The local files that the same download with `overwrite` would replace. */
export async function findFolderOverwrites(
  task: Task,
  allowed: AllowedFolders,
  vaultId: string,
  folder: Folder | null,
  dest: string,
): Promise<Overwrite[]> {
  await using open = await openFolder(allowed, (await folderBelow(task, allowed, vaultId, folder, dest)) ?? dest);
  if (open === null) return [];
  const realPaths = new Map<string, string>();
  const { files } = await fetchFolder(task, allowed, vaultId, folder, open, {
    dryRun: true,
    overwrite: (path, realPath) => realPaths.set(path, realPath).has(path),
  });
  return files.flatMap(({ path: below, fileId, versionId }) => {
    const path = realPaths.get(below);
    const mark = path === undefined ? null : fileMark(path);
    return path === undefined || mark === null ? [] : [{ path, mark, fileId, versionId }];
  });
}

async function fetchFolder(
  task: Task,
  allowed: AllowedFolders,
  vaultId: string,
  folder: Folder | null,
  { way }: OpenFolder,
  { rules, ...options }: Pick<FolderOptions, "overwrite" | "dryRun" | "onProgress"> & Pick<DownloadPlan, "rules">,
): Promise<FolderResult> {
  const { downloadFolder } = await import("@coffer/sdk/node");
  const keeps = await keptPaths(way, rules ?? NO_RULES);
  const judge = createWriteJudge(allowed);
  return await downloadFolder(await task.clientFor(null), way, {
    vaultId,
    ...(folder === null ? {} : { folderId: folder.id }),
    signal: task.signal,
    filter: (below, kind, realPath) => isAllowed(allowed, realPath) && judge(realPath) === null && keeps(below, kind),
    ...options,
  });
}

function overwriteOption(overwrite: Replacing): FolderOptions["overwrite"] {
  return typeof overwrite === "boolean" ? overwrite : (_path, realPath) => overwrite(realPath);
}

/** null: `dest` itself, which is not there yet, or which a run that was cut off has begun to fill. */
async function folderBelow(
  task: Task,
  allowed: AllowedFolders,
  vaultId: string,
  folder: Folder | null,
  dest: string,
): Promise<string | null> {
  await using existing = await openFolder(allowed, dest);
  if (existing === null || folder === null) return null;
  const { knowsFolder } = await import("@coffer/sdk/node");
  const isBegun = await knowsFolder(await task.clientFor(null), existing.way, { vaultId, folderId: folder.id });
  return isBegun ? null : join(existing.path, localName(folder.name));
}

const noFolder = (): TaskFailure =>
  new TaskFailure("not_a_file", { message: "The destination is no folder", nextStep: "Choose another dest." });

/** The folder, made if its parent exists. */
export async function ensureDirectory(allowed: AllowedFolders, path: string): Promise<OpenFolder> {
  for (let attempt = 0; ; attempt += 1) {
    const folder = await openFolder(allowed, path);
    if (folder !== null) return folder;
    if (attempt > 0) throw noFolder();
    await using destination = await openDestination(allowed, path, false).catch((thrown: unknown) => {
      throw thrown instanceof TaskFailure && thrown.code === "destination_exists" ? noFolder() : thrown;
    });
    await mkdir(destination.writePath, { mode: 0o700 });
  }
}

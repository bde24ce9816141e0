/** Makes a vault folder like a local one, or the other way round. */
import type { FolderResult, RestoreRemovedOptions, RestoreRemovedResult } from "@coffer/sdk/node";
import { ensureDirectory } from "./downloads.ts";
import { TaskFailure, toFailure } from "./failure.ts";
import { ensureFolder } from "./folders.ts";
import { keptPaths, type PathRules } from "./ignore-rules.ts";
import { resolvePath, isAllowed, noSuchFile, type AllowedFolders } from "./paths/allowed-folders.ts";
import { openFolder, type OpenFolder } from "./paths/local-files.ts";
import { findFolder } from "./item-lookup.ts";
import type { Task } from "./task.ts";
import { untrusted } from "./untrusted.ts";
import { planFolder, reporter, type TransferRow } from "./uploads.ts";

export interface SyncPlan {
  readonly direction: "up" | "down";
  /** The local folder. */
  readonly path: string;
  readonly vaultId: string;
  /** Id or path of the folder in the vault. null: its top. */
  readonly folder: string | null;
  /** What was deleted on the sending side goes to the trash of the receiving one. */
  readonly deletes: boolean;
  /** The most files that may go. Default: half of those of the receiving side, and none if the sending one is empty. */
  readonly maxDelete: number | undefined;
  /** Also replaces what the receiving side changed by itself. */
  readonly overwrite: boolean;
  readonly dryRun: boolean;
  /** Lists all of a vault with encrypted names again. */
  readonly full: boolean;
  /** What stays out on both sides, beside the `.cofferignore` of the local folder. */
  readonly rules: PathRules;
}

/** Throws TaskFailure `not_found` or `file_not_found` for a folder that is not there to be read. */
export async function syncFolders(task: Task, allowed: AllowedFolders, plan: SyncPlan): Promise<FolderResult> {
  const { direction, dryRun, full, overwrite, path, vaultId } = plan;
  await using local = await localFolder(allowed, plan);
  const folderId = await folderIdOf(task, plan);
  const keeps = await keptPaths(local?.way ?? path, plan.rules);
  if (folderId === "missing")
    return plannedWhole(local === null ? [] : await planFolder(task, allowed, local, { path: "", below: "", keeps }));
  const { syncFolder } = await import("@coffer/sdk/node");
  return await syncFolder(await task.client(), local?.way ?? path, {
    vaultId,
    direction,
    overwrite,
    dryRun,
    full,
    delete: plan.deletes,
    signal: task.signal,
    ...(plan.maxDelete === undefined ? {} : { maxDelete: plan.maxDelete }),
    ...(folderId === null ? {} : { folderId }),
    filter: (below, kind, realPath) => isAllowed(allowed, realPath) && keeps(below, kind),
    onProgress: reporter(task, null),
  });
}

/**
 * Brings back what syncs took out of a local folder.
 * Throws TaskFailure `file_not_found`, `path_not_allowed`.
 */
export async function restoreSynced(
  { signal }: Pick<Task, "signal">,
  allowed: AllowedFolders,
  path: string,
  options: Omit<RestoreRemovedOptions, "signal">,
): Promise<RestoreRemovedResult> {
  await using folder = await openFolder(allowed, path);
  if (folder === null) throw await noLocalFolder(allowed, path);
  const { restoreRemoved } = await import("@coffer/sdk/node");
  return await restoreRemoved(folder.way, { ...options, signal });
}

async function noLocalFolder(allowed: AllowedFolders, path: string): Promise<TaskFailure> {
  const failure = await noSuchFile(allowed, await resolvePath(allowed, path));
  if (failure.detail !== null) return failure;
  return new TaskFailure("file_not_found", { message: "There is no such local folder", detail: untrusted(path) });
}

/** null: a dry run into a folder that would be made. */
async function localFolder(allowed: AllowedFolders, { direction, dryRun, path }: SyncPlan): Promise<OpenFolder | null> {
  if (direction === "down" && !dryRun) return await ensureDirectory(allowed, path);
  const folder = await openFolder(allowed, path);
  if (folder === null && direction === "up") throw await noLocalFolder(allowed, path);
  return folder;
}

/** `missing`: a dry run would make it. */
async function folderIdOf(task: Task, { direction, dryRun, folder, vaultId }: SyncPlan): Promise<string | null> {
  if (folder === null) return null;
  if (direction === "up" && !dryRun) return await ensureFolder(task, vaultId, folder);
  try {
    return (await findFolder(task, vaultId, folder))?.id ?? null;
  } catch (thrown) {
    if (direction === "up" && toFailure(thrown, task.signal).code === "not_found") return "missing";
    throw thrown;
  }
}

const REASONS = ["link", "special", "trash"] as const;

/** The plan of a dry run into a folder that is not there yet. */
function plannedWhole(rows: readonly TransferRow[]): FolderResult {
  const transferred = rows.filter(({ act }) => act === "would send");
  const bytes = transferred.reduce((sum, row) => sum + row.bytes, 0);
  return {
    dryRun: true,
    plan: { create: transferred.length, replace: 0, unchanged: 0, remove: 0, folders: 0, bytes },
    files: transferred.map(({ path, bytes: size }) => {
      return { path, act: "created", fileId: null, versionId: null, size, sha256: null };
    }),
    folders: [],
    skipped: rows.flatMap(({ act, code, path }) =>
      act === "skipped" ? [{ path, reason: REASONS.find((reason) => reason === code) ?? "filter" }] : [],
    ),
    failed: [],
  };
}

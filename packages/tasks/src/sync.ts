/** Makes a vault folder like a local one, or the other way round. */
import type { FolderResult } from "@coffer/sdk/node";
import { ensureDirectory } from "./downloads.ts";
import { TaskFailure, toFailure } from "./failure.ts";
import { ensureFolder } from "./folders.ts";
import { isAllowed, type AllowedFolders } from "./paths/allowed-folders.ts";
import { openFolder, type OpenFolder } from "./paths/local-files.ts";
import { findFolder } from "./places.ts";
import type { Task } from "./task.ts";
import { untrusted } from "./untrusted.ts";
import { foresee, reporter, type Transferred } from "./uploads.ts";

export interface SyncPlan {
  readonly direction: "up" | "down";
  /** The local folder. */
  readonly path: string;
  readonly vaultId: string;
  /** Id or path of the folder in the vault. null: its top. */
  readonly folder: string | null;
  /** What was deleted on the sending side goes on the receiving one: there to the trash, here for good. */
  readonly deletes: boolean;
  /** Also replaces what the receiving side changed by itself. */
  readonly overwrite: boolean;
  readonly dryRun: boolean;
}

/** Throws TaskFailure `not_found` or `file_not_found` for a folder that is not there to be read. */
export async function syncFolders(task: Task, allowed: AllowedFolders, plan: SyncPlan): Promise<FolderResult> {
  const { direction, dryRun, overwrite, path, vaultId } = plan;
  await using local = await localFolder(allowed, plan);
  const folderId = await folderIdOf(task, plan);
  if (folderId === "missing") return plannedWhole(local === null ? [] : await foresee(task, allowed, local, ""));
  const { syncFolder } = await import("@coffer/sdk/node");
  return await syncFolder(await task.client(), local?.way ?? path, {
    ...{ vaultId, direction, overwrite, dryRun, delete: plan.deletes, signal: task.signal },
    ...(folderId === null ? {} : { folderId }),
    filter: (_path, _kind, place) => isAllowed(allowed, place),
    onProgress: reporter(task, null),
  });
}

/** null: a dry run into a folder that would be made. */
async function localFolder(allowed: AllowedFolders, { direction, dryRun, path }: SyncPlan): Promise<OpenFolder | null> {
  if (direction === "down" && !dryRun) return await ensureDirectory(allowed, path);
  const folder = await openFolder(allowed, path);
  if (folder === null && direction === "up")
    throw new TaskFailure("file_not_found", { message: "There is no such local folder", detail: untrusted(path) });
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

/** The plan of a dry run into a folder that is not there yet. */
function plannedWhole(rows: readonly Transferred[]): FolderResult {
  const sent = rows.filter(({ act }) => act === "would send");
  const bytes = sent.reduce((sum, row) => sum + row.bytes, 0);
  return {
    dryRun: true,
    plan: { create: sent.length, replace: 0, unchanged: 0, remove: 0, folders: 0, bytes },
    files: sent.map(({ path, bytes: size }) => {
      return { path, act: "created", fileId: null, versionId: null, size, sha256: null };
    }),
    folders: [],
    skipped: rows.flatMap(({ act, code, path }) =>
      act === "skipped" ? [{ path, reason: code === "link" || code === "special" ? code : "filter" } as const] : [],
    ),
    failed: [],
  };
}

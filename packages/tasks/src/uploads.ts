/** Local files and folders into a vault: one call, one report, and a repeat sends the rest only. */
import { lstat, readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import type { FolderResult } from "@coffer/sdk/node";
import { TaskFailure, toFailure } from "./failure.ts";
import { ensureFolder, pathBelow } from "./folders.ts";
import { isAllowed, type AllowedFolders } from "./paths/allowed-folders.ts";
import { holdsSecret, openBelow, openFolder, openSource, type OpenFolder } from "./paths/local-files.ts";
import type { Task } from "./task.ts";
import { uploadSource, type Stored, type UploadWish } from "./upload-source.ts";
import { untrusted, type Untrusted } from "./untrusted.ts";

export interface UploadPlan {
  readonly vaultId: string;
  /** Id or path of a folder; missing ones of a path are made. null: the top of the vault. */
  readonly folder: string | null;
  readonly ifExists: "error" | "version" | "rename" | "skip";
  /** The version that a single file must have. */
  readonly expectedVersion?: string | undefined;
  /** A single file's name in the vault. Default: its own. */
  readonly name?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly dryRun: boolean;
}

/** What became of one local file. */
export interface Transferred {
  /** As the caller can name it again. */
  readonly path: string;
  readonly act: "created" | "replaced" | "unchanged" | "skipped" | "failed" | "would send";
  readonly fileId: string | null;
  readonly bytes: number;
  readonly sha256: string | null;
  /** Code of a failure; null otherwise. */
  readonly code: string | null;
  readonly why: Untrusted | null;
}

export interface UploadReport {
  readonly files: readonly Transferred[];
  /** The only file, where one was named. */
  readonly only: Stored | null;
}

/** Uploads what lies at the paths, in their order. A failure of one file stops no other; one of the call is thrown. */
export async function uploadPaths(
  task: Task,
  allowed: AllowedFolders,
  paths: readonly string[],
  plan: UploadPlan,
): Promise<UploadReport> {
  const isSingle = paths.length === 1;
  const files: Transferred[] = [];
  for (const path of paths) {
    try {
      const folder = await openFolder(allowed, path);
      if (folder !== null) {
        await using directory = folder;
        refuseForFolder(plan);
        files.push(...(await uploadDirectory(task, allowed, directory, plan)));
        continue;
      }
      if (!isSingle && plan.name !== undefined)
        throw new TaskFailure("invalid_arguments", { message: "name is for a single file" });
      const { row, stored } = await uploadOne(task, allowed, path, plan);
      if (isSingle) return { files: [row], only: stored };
      files.push(row);
    } catch (thrown) {
      const failure = toFailure(thrown, task.signal);
      if (isSingle || ENDING.has(failure.code)) throw failure;
      files.push(failed(path, failure));
    }
  }
  return { files, only: null };
}

/** What meets every file. */
const ENDING: ReadonlySet<string> = new Set([
  ...["cancelled", "signed_out", "unreachable", "not_configured", "not_a_member", "membership_ended", "shared_vault"],
  ...["missing_scope", "vault_required", "storage_quota", "budget_storage", "budget_exceeded", "rate_limited"],
  ...["confirmation_required", "signing_key_missing", "invalid_arguments"],
]);

function refuseForFolder({ ifExists, expectedVersion, name, idempotencyKey }: UploadPlan): void {
  if (ifExists === "rename")
    throw new TaskFailure("invalid_arguments", { message: "ifExists: rename is for single files, not for folders" });
  if (expectedVersion !== undefined || name !== undefined || idempotencyKey !== undefined)
    throw new TaskFailure("invalid_arguments", {
      message: "name, expectedVersion and idempotencyKey are for a single file",
    });
}

interface One {
  readonly row: Transferred;
  readonly stored: Stored | null;
}

async function uploadOne(task: Task, allowed: AllowedFolders, path: string, plan: UploadPlan): Promise<One> {
  await using source = await openSource(allowed, path);
  const row = { path, bytes: source.size, sha256: null, fileId: null, code: null, why: null };
  await source.refuseSecrets();
  if (plan.dryRun) return { row: { ...row, act: "would send" }, stored: null };
  const folderId = await ensureFolder(task, plan.vaultId, plan.folder);
  const { vaultId, expectedVersion, ifExists, name, mimeType, idempotencyKey } = plan;
  const wish: UploadWish = {
    ...{ vaultId, ifExists, expectedVersion, name, mimeType, idempotencyKey },
    ...(folderId === null ? {} : { folderId }),
  };
  const stored = await uploadSource(task, source, wish);
  const { file, bytes, sha256, act } = stored;
  return { row: { ...row, act, fileId: file.id, bytes, sha256 }, stored };
}

/** The folder goes under its own name, as `cp -r` does it. */
async function uploadDirectory(
  task: Task,
  allowed: AllowedFolders,
  directory: OpenFolder,
  plan: UploadPlan,
): Promise<Transferred[]> {
  const client = await task.client();
  const name = basename(directory.path);
  const target = pathBelow(plan.folder, name);
  const { uploadFolder } = await import("@coffer/sdk/node");
  const folderId = plan.dryRun
    ? await folderOrNull(task, plan, target)
    : await ensureFolder(task, plan.vaultId, target);
  if (plan.dryRun && folderId === null) return await foresee(task, allowed, directory, name);
  const secrets = new Set<string>();
  const result = await uploadFolder(client, directory.way, {
    vaultId: plan.vaultId,
    ...(folderId === null ? {} : { folderId }),
    overwrite: plan.ifExists === "version",
    dryRun: plan.dryRun,
    signal: task.signal,
    // By where it really lies. What is only at the service lies nowhere here.
    filter: (path, kind, place = join(directory.path, path)) => {
      if (!isAllowed(allowed, place)) return false;
      if (kind === "folder" || !holdsSecret(allowed, place)) return true;
      secrets.add(path);
      return false;
    },
    onProgress: ({ bytes, totalBytes }) => {
      task.progress(bytes, totalBytes);
    },
  });
  return rowsOf(result, name, plan.ifExists === "skip", secrets);
}

async function folderOrNull(task: Task, plan: UploadPlan, target: string): Promise<string | null> {
  const { walkFolders } = await import("./places.ts");
  const { folder, missing } = await walkFolders(task, plan.vaultId, target);
  return missing.length > 0 ? null : (folder?.id ?? null);
}

/** A dry run into a folder that is not there yet: all of it would be sent. `path`: of the folder, as the caller can name it. */
async function foresee(task: Task, allowed: AllowedFolders, folder: OpenFolder, path: string): Promise<Transferred[]> {
  const rows: Transferred[] = [];
  for (const entry of await readdir(folder.way, { withFileTypes: true })) {
    task.signal.throwIfAborted();
    const at = `${path}/${entry.name}`;
    if (!isAllowed(allowed, join(folder.path, entry.name))) rows.push(outcome(at, "skipped", "filter", null));
    else if (entry.isDirectory()) {
      await using below = await openBelow(allowed, folder, entry.name);
      rows.push(...(await foresee(task, allowed, below, at)));
    } else rows.push(await foreseeFile(allowed, join(folder.way, entry.name), at));
  }
  return rows;
}

async function foreseeFile(allowed: AllowedFolders, place: string, path: string): Promise<Transferred> {
  const stats = await lstat(place);
  if (!stats.isFile()) return outcome(path, "skipped", stats.isSymbolicLink() ? "link" : "special", null);
  if (holdsSecret(allowed, place)) return outcome(path, "skipped", "secret_in_file", null);
  return { path, act: "would send", fileId: null, bytes: stats.size, sha256: null, code: null, why: null };
}

/** Receipts, and failures after them. Paths begin with the folder's name. */
export function rowsOf(
  { dryRun, files, skipped, failed: failures }: FolderResult,
  name: string,
  skips: boolean,
  secrets: ReadonlySet<string> = new Set(),
): Transferred[] {
  const done = files.map(({ path, act, fileId, size, sha256 }): Transferred => {
    const isOpen = dryRun && (act === "created" || act === "replaced");
    const kind = act === "removed" ? "unchanged" : act;
    return {
      path: `${name}/${path}`,
      act: isOpen ? "would send" : kind,
      fileId,
      bytes: size,
      sha256,
      code: null,
      why: null,
    };
  });
  const left = skipped.map(({ path, reason }) =>
    outcome(`${name}/${path}`, "skipped", secrets.has(path) ? "secret_in_file" : reason, null),
  );
  const not = failures.map(({ path, code, message, nextStep }) =>
    skips && code === "destination_exists"
      ? outcome(`${name}/${path}`, "skipped", "exists", null)
      : outcome(`${name}/${path}`, "failed", code, `${message}. ${nextStep}`),
  );
  return [...done, ...left, ...not];
}

function outcome(path: string, act: "skipped" | "failed", code: string, why: string | null): Transferred {
  return { path, act, fileId: null, bytes: 0, sha256: null, code, why: why === null ? null : untrusted(why) };
}

export function failed(path: string, { code, message, nextStep }: TaskFailure): Transferred {
  return outcome(path, "failed", code, `${message}. ${nextStep}`);
}

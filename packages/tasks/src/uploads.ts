/** Local files and folders into a vault: one call, one report, and a repeat sends the rest only. */
import { lstat, readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import type { FolderProgress, FolderResult } from "@coffer/sdk/node";
import { TaskFailure, toFailure, withDetail } from "./failure.ts";
import { ensureFolder, findExistingFolders } from "./folders.ts";
import { keptPaths, NO_RULES, type Keeps, type PathRules } from "./ignore-rules.ts";
import { isAllowed, type AllowedFolders } from "./paths/allowed-folders.ts";
import { holdsSecret, openBelow, openFolder, openSource, type OpenFolder } from "./paths/local-files.ts";
import { runConcurrently } from "./concurrency.ts";
import type { Task } from "./task.ts";
import { TransferCount } from "./transfer-count.ts";
import { nameIn, uploadSource, type UploadOutcome, type UploadFolder, type UploadRequest } from "./upload-source.ts";
import { untrusted, type Untrusted } from "./untrusted.ts";

/** Missing folders are made. */
export interface UploadPlan extends UploadFolder {
  readonly vaultId: string;
  readonly ifExists: "error" | "version" | "rename" | "skip";
  /** The version that a single file must have. */
  readonly expectedVersion?: string | undefined;
  /** A single file's name in the vault. Default: its own. */
  readonly name?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly dryRun: boolean;
  /** What stays out of folders, beside their `.cofferignore`. Default: nothing. */
  readonly rules?: PathRules | undefined;
}

/** What became of one local file. */
export interface TransferRow {
  /** As the caller can name it again. */
  readonly path: string;
  readonly act: "created" | "replaced" | "unchanged" | "skipped" | "failed" | "would send";
  readonly fileId: string | null;
  readonly bytes: number;
  readonly sha256: string | null;
  /** Code of a failure; null otherwise. */
  readonly code: string | null;
  readonly why: Untrusted | null;
  /** What to do about a failure, in the words of tools or of the SDK. */
  readonly nextStep?: string;
}

export interface UploadReport {
  readonly files: readonly TransferRow[];
  /** The only file, where one was named. */
  readonly only: UploadOutcome | null;
}

/** Files on their way at once. Each takes up to 32 MiB of memory. A folder has as many of its own. */
const CONCURRENCY = 4;

/** Uploads what lies at the paths, several at once. A failure of one file stops no other; one of the call is thrown. */
export async function uploadPaths(
  task: Task,
  allowed: AllowedFolders,
  paths: readonly string[],
  plan: UploadPlan,
): Promise<UploadReport> {
  if (paths.length > 1 && plan.name !== undefined)
    throw new TaskFailure("invalid_arguments", { about: "name", message: "name is for a single file" });
  const call: UploadCall = { task, allowed, plan, count: new TransferCount(task), folderId: folderOnce(task, plan) };
  const [only, ...others] = paths;
  if (only !== undefined && others.length === 0) return await uploadPath(call, only);
  const rows: Rows = [];
  const folders: number[] = [];
  try {
    await uploadBatches(call, paths, rows);
    await runConcurrently(paths, CONCURRENCY, async (path, at) => {
      if (rows[at] !== undefined) return;
      if (await isFolder(allowed, path)) folders.push(at);
      else rows[at] = await rowsOrFailure(call, path);
    });
    await runConcurrently(folders, 1, async (at) => {
      rows[at] = await rowsOrFailure(call, paths[at] ?? "");
    });
  } catch (thrown) {
    throw withStored(toFailure(thrown, task.signal), rows.flat());
  }
  return { files: rows.flatMap((each) => each ?? []), only: null };
}

interface UploadCall {
  readonly task: Task;
  readonly allowed: AllowedFolders;
  readonly plan: UploadPlan;
  readonly count: TransferCount;
  /** The folder that files go into: looked for, and made, once for all of them. */
  readonly folderId: () => Promise<string | null>;
}

/** By the place of the path in the call. A folder has several. */
type Rows = (readonly TransferRow[] | undefined)[];

/** Adds the rows of what goes in batches. The others have turns of their own. */
async function uploadBatches(call: UploadCall, paths: readonly string[], rows: Rows): Promise<void> {
  const { allowed, count, plan, task } = call;
  const { dryRun, expectedVersion, idempotencyKey, ifExists, mimeType, vaultId } = plan;
  if (dryRun || ifExists === "rename" || idempotencyKey !== undefined || expectedVersion !== undefined) return;
  const folderId = await call.folderId();
  const { uploadNewFiles } = await import("./new-files.ts");
  const outcomes = await uploadNewFiles(task, { allowed, paths, vaultId, folderId, mimeType, count });
  for (const one of outcomes) {
    if ("failure" in one) continue;
    const { at, bytes, file, sha256 } = one;
    rows[at] = [{ path: paths[at] ?? "", act: "created", fileId: file.id, bytes, sha256, code: null, why: null }];
  }
  // A failure may end the call, which then names what was stored.
  for (const one of outcomes) if ("failure" in one) rows[one.at] = [rowOfFailure(paths[one.at] ?? "", one.failure)];
}

function folderOnce(task: Task, { vaultId, folder, below }: UploadPlan): UploadCall["folderId"] {
  let folderId: Promise<string | null> | undefined;
  return () => (folderId ??= ensureFolder(task, vaultId, folder, below));
}

async function isFolder(allowed: AllowedFolders, path: string): Promise<boolean> {
  try {
    await using folder = await openFolder(allowed, path);
    return folder !== null;
  } catch {
    // Its own turn says what is wrong.
    return false;
  }
}

async function rowsOrFailure(call: UploadCall, path: string): Promise<readonly TransferRow[]> {
  try {
    return (await uploadPath(call, path)).files;
  } catch (thrown) {
    return [rowOfFailure(path, toFailure(thrown, call.task.signal))];
  }
}

/** Files that a failure of the whole call names. */
const MOST_NAMED = 10;

/** The failure that ended the call, with what it had stored before: a repeat sends the rest only. */
function withStored(failure: TaskFailure, rows: readonly (TransferRow | undefined)[]): TaskFailure {
  const stored = rows.flatMap((row) => (row?.act === "created" || row?.act === "replaced" ? [row.path] : []));
  if (stored.length === 0) return failure;
  const more = stored.length > MOST_NAMED ? ` and ${String(stored.length - MOST_NAMED)} more` : "";
  const named = `stored before that: ${stored.slice(0, MOST_NAMED).join(", ")}${more}`;
  return withDetail(failure, failure.detail === null ? named : `${failure.detail.visible()}; ${named}`);
}

/** @throws the failure, if every file would have it. */
function rowOfFailure(path: string, failure: TaskFailure): TransferRow {
  if (ENDS_CALL.has(failure.code)) throw failure;
  return failedRow(path, failure);
}

async function uploadPath(call: UploadCall, path: string): Promise<UploadReport> {
  const { allowed, count, plan } = call;
  await using directory = await openFolder(allowed, path);
  if (directory !== null) {
    refuseForFolder(plan);
    const counted = count.add(path, 0);
    return { files: await uploadDirectory(counted, allowed, directory, plan), only: null };
  }
  const { row, stored } = await uploadOne(call, path);
  return { files: [row], only: stored };
}

/** Failures that every file would have. */
const ENDS_CALL: ReadonlySet<string> = new Set([
  ...[
    "cancelled",
    "signed_out",
    "unreachable",
    "not_configured",
    "locked",
    "not_a_member",
    "membership_ended",
    "shared_vault",
  ],
  ...["missing_scope", "vault_required", "storage_quota", "budget_storage", "budget_exceeded", "rate_limited"],
  ...["confirmation_required", "signing_key_missing", "invalid_arguments"],
]);

function refuseForFolder({ ifExists, expectedVersion, name, idempotencyKey }: UploadPlan): void {
  if (ifExists === "rename")
    throw new TaskFailure("invalid_arguments", {
      about: "ifExists",
      message: "ifExists: rename is for single files, not for folders",
    });
  if (expectedVersion !== undefined || name !== undefined || idempotencyKey !== undefined)
    throw new TaskFailure("invalid_arguments", {
      about: "name",
      message: "name, expectedVersion and idempotencyKey are for a single file",
    });
}

interface SingleUpload {
  readonly row: TransferRow;
  readonly stored: UploadOutcome | null;
}

async function uploadOne(
  { allowed, count, folderId: place, plan, task }: UploadCall,
  path: string,
): Promise<SingleUpload> {
  await using source = await openSource(allowed, path);
  const row = { path, bytes: source.size, sha256: null, fileId: null, code: null, why: null };
  await source.refuseSecrets();
  nameIn(plan, source.name);
  if (plan.dryRun) return { row: { ...row, act: "would send" }, stored: null };
  const folderId = await place();
  const { vaultId, expectedVersion, ifExists, name, mimeType, idempotencyKey } = plan;
  const wish: UploadRequest = {
    vaultId,
    ifExists,
    expectedVersion,
    name,
    mimeType,
    idempotencyKey,
    ...(folderId === null ? {} : { folderId }),
  };
  const counted = count.add(path, source.size);
  const stored = await uploadSource(counted, source, wish).catch((thrown: unknown) => {
    if (!ENDS_CALL.has(toFailure(thrown, task.signal).code)) counted.end();
    throw thrown;
  });
  counted.end();
  const { file, bytes, sha256, act } = stored;
  return { row: { ...row, act, fileId: file.id, bytes, sha256 }, stored };
}

/** The folder goes under its own name, as `cp -r` does it. */
async function uploadDirectory(
  task: Task,
  allowed: AllowedFolders,
  directory: OpenFolder,
  plan: UploadPlan,
): Promise<TransferRow[]> {
  const client = await task.clientFor(plan.dryRun ? null : plan.vaultId);
  const name = basename(directory.path);
  const { uploadFolder } = await import("@coffer/sdk/node");
  const folderId = plan.dryRun
    ? await folderOrNull(task, plan, name)
    : await ensureFolder(task, plan.vaultId, plan.folder, [...(plan.below ?? []), name]);
  const keeps = await keptPaths(directory.way, plan.rules ?? NO_RULES);
  if (plan.dryRun && folderId === null)
    return await planFolder(task, allowed, directory, { path: name, below: "", keeps });
  const secrets = new Set<string>();
  const result = await uploadFolder(client, directory.way, {
    vaultId: plan.vaultId,
    ...(folderId === null ? {} : { folderId }),
    overwrite: plan.ifExists === "version",
    dryRun: plan.dryRun,
    signal: task.signal,
    // By where it really lies.
    filter: (path, kind, place) => {
      if (!isAllowed(allowed, place) || !keeps(path, kind)) return false;
      if (kind === "folder" || !holdsSecret(allowed, place)) return true;
      secrets.add(path);
      return false;
    },
    onProgress: reporter(task, name),
  });
  return rowsOf(result, name, { skips: plan.ifExists === "skip", differs: TAKEN, secrets });
}

/** Hands on how far a folder is. `name`: of the folder, which its paths begin with; null: they do not. */
export function reporter(task: Task, name: string | null): (progress: FolderProgress) => void {
  return ({ bytes, totalBytes, files, totalFiles, file }) => {
    const moved = file ?? { path: "", bytes: 0, size: 0 };
    task.progress(bytes, totalBytes, {
      ...moved,
      path: name === null ? moved.path : `${name}/${moved.path}`,
      files,
      totalFiles,
    });
  };
}

async function folderOrNull(task: Task, plan: UploadPlan, name: string): Promise<string | null> {
  const { folder, missing } = await findExistingFolders(task, plan.vaultId, plan.folder, [...(plan.below ?? []), name]);
  return missing.length > 0 ? null : (folder?.id ?? null);
}

export interface PlannedFolder {
  /** As the caller can name it. */
  readonly path: string;
  /** From the folder of the transfer down, with `/` between names; empty: that folder. */
  readonly below: string;
  readonly keeps: Keeps;
}

/** A dry run into a folder that is not there yet: all of it would be sent. */
export async function planFolder(
  task: Task,
  allowed: AllowedFolders,
  folder: OpenFolder,
  { path, below: top, keeps }: PlannedFolder,
): Promise<TransferRow[]> {
  const { isLocalTrash, namesNotUtf8 } = await import("@coffer/sdk/node");
  const rows: TransferRow[] = [];
  for (const name of await namesNotUtf8(folder.way))
    rows.push(
      outcome(path === "" ? name : `${path}/${name}`, "failed", "invalid_name", "The name is not UTF-8. Rename it"),
    );
  for (const entry of await readdir(folder.way, { withFileTypes: true })) {
    task.signal.throwIfAborted();
    // One of those above, or gone since.
    if (!(await exists(join(folder.way, entry.name)))) continue;
    const at = path === "" ? entry.name : `${path}/${entry.name}`;
    const inside = top === "" ? entry.name : `${top}/${entry.name}`;
    if (isLocalTrash(entry.name)) rows.push(outcome(at, "skipped", "trash", null));
    else if (
      !isAllowed(allowed, join(folder.path, entry.name)) ||
      !keeps(inside, entry.isDirectory() ? "folder" : "file")
    )
      rows.push(outcome(at, "skipped", "filter", null));
    else if (entry.isDirectory()) {
      await using below = await openBelow(allowed, folder, entry.name);
      rows.push(...(await planFolder(task, allowed, below, { path: at, below: inside, keeps })));
    } else rows.push(await planFile(allowed, join(folder.way, entry.name), at));
  }
  return rows;
}

function exists(place: string): Promise<boolean> {
  return lstat(place).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
      throw error;
    },
  );
}

async function planFile(allowed: AllowedFolders, place: string, path: string): Promise<TransferRow> {
  const stats = await lstat(place);
  if (!stats.isFile()) return outcome(path, "skipped", stats.isSymbolicLink() ? "link" : "special", null);
  if (holdsSecret(allowed, place)) return outcome(path, "skipped", "secret_in_file", null);
  return { path, act: "would send", fileId: null, bytes: stats.size, sha256: null, code: null, why: null };
}

const TAKEN = "Pass ifExists: version if it may be replaced, or rename one of the two.";

interface RowWords {
  readonly skips: boolean;
  /** What to do about a file that the other side has and that differs: the SDK's step names an option of its own. */
  readonly differs: string;
  readonly secrets?: ReadonlySet<string>;
}

/** Receipts, and failures after them. Paths begin with the folder's name. */
export function rowsOf(
  { dryRun, files, skipped, failed: failures }: FolderResult,
  name: string,
  { differs, secrets = new Set(), skips }: RowWords,
): TransferRow[] {
  const doneRows = files.map(({ path, act, fileId, size, sha256 }): TransferRow => {
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
  const skippedRows = skipped.map(({ path, reason }) =>
    outcome(`${name}/${path}`, "skipped", secrets.has(path) ? "secret_in_file" : reason, null),
  );
  const failedRows = failures.map(({ path, code, message, nextStep }) =>
    skips && code === "destination_exists"
      ? outcome(`${name}/${path}`, "skipped", "exists", null)
      : {
          ...outcome(`${name}/${path}`, "failed", code, message),
          nextStep: code === "destination_exists" ? differs : nextStep,
        },
  );
  return [...doneRows, ...skippedRows, ...failedRows];
}

function outcome(path: string, act: "skipped" | "failed", code: string, why: string | null): TransferRow {
  return { path, act, fileId: null, bytes: 0, sha256: null, code, why: why === null ? null : untrusted(why) };
}

export function failedRow(path: string, { code, detail, message, nextStep }: TaskFailure): TransferRow {
  const what = detail === null ? message : `${message}: ${detail.visible()}`;
  return { ...outcome(path, "failed", code, what), nextStep };
}

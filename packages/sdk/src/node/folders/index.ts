/** Whole folders, between a directory of this machine and a vault. */
import { restoreTree } from "./restore-trash.ts";
import { knowsFolder as hasJournal, runFolder } from "./folder-call.ts";
import type { Client } from "../../client.ts";
import type {
  DownloadFolderOptions,
  FolderResult,
  RestoreRemovedOptions,
  RestoreRemovedResult,
  SyncFolderOptions,
  UploadFolderOptions,
} from "./options.ts";

/**
 * Stores a directory with everything below it in a vault, public or shared. It skips what is there already: by size and
 * time against its journal, by digest where those differ. So a repeated call sends only the rest, also after a crash.
 * A file that differs at the service is replaced only with `overwrite`. It never follows links. Failures of single
 * files are in `failed`, and the others go on.
 * @throws SdkError what ends all of it: `connection_failed`, `aborted`, `locked` while another process does it, …
 *
 * @example
 * ```ts
 * const { files, failed } = await uploadFolder(client, "reports", { vaultId });
 * for (const { path, fileId, sha256 } of files) console.log(path, fileId, sha256);
 * for (const { path, message, nextStep } of failed) console.error(path, message, nextStep);
 * ```
 */
export async function uploadFolder(
  client: Client,
  directory: string,
  options: UploadFolderOptions,
): Promise<FolderResult> {
  return runFolder(client, "uploadFolder", directory, { ...options, direction: "up" });
}

/**
 * Writes a vault, or a folder of it, into a directory. It skips and goes on as `uploadFolder` does. Each file is whole
 * or absent, has mode 0600 and the service's time. Nothing is written outside of the directory. A file that differs
 * here is replaced only with `overwrite`.
 * @throws SdkError what ends all of it, as `uploadFolder`.
 *
 * @example
 * ```ts
 * const { files, failed } = await downloadFolder(client, "copy of reports", { vaultId });
 * ```
 */
export async function downloadFolder(
  client: Client,
  directory: string,
  options: DownloadFolderOptions,
): Promise<FolderResult> {
  return runFolder(client, "downloadFolder", directory, { ...options, direction: "down" });
}

/**
 * Makes one side like the other, in one direction. It replaces what only the sending side changed since the last call.
 * What the receiving side changed by itself stays, and is in `failed`, unless you pass `overwrite`. With `dryRun` it
 * only shows its plan. What it removes or replaces here is kept for 30 days,
 * in the trash of this machine. That is `.coffer-trash` beside the directory, or in it if it is a mount point.
 * @throws SdkError what ends all of it, as `uploadFolder`; `too_many_deletions`.
 *
 * @example
 * ```ts
 * const { plan } = await syncFolder(client, "reports", { vaultId, direction: "up", delete: true, dryRun: true });
 * console.log(plan.create, plan.replace, plan.remove);
 * ```
 */
export async function syncFolder(client: Client, directory: string, options: SyncFolderOptions): Promise<FolderResult> {
  return runFolder(client, "syncFolder", directory, options);
}

/**
 * Brings back what `syncFolder` removed or replaced in a directory. It follows no links, and replaces nothing that is there
 * now, unless you pass `overwrite`.
 *
 * @example
 * ```ts
 * const { files } = await restoreRemoved("copy of reports", { dryRun: true });
 * for (const { path, act, removedAt } of files) console.log(path, act, removedAt);
 * await restoreRemoved("copy of reports");
 * ```
 */
export async function restoreRemoved(
  directory: string,
  options: RestoreRemovedOptions = {},
): Promise<RestoreRemovedResult> {
  return await restoreTree(directory, options);
}

/**
 * Whether an earlier call went between the directory and the vault, or the folder of it: then a next one goes on. It looks
 * into the default store.
 *
 * @example
 * ```ts
 * if (await knowsFolder(client, "copy of reports", { vaultId })) console.log("goes on");
 * ```
 */
export async function knowsFolder(
  client: Client,
  directory: string,
  place: Pick<DownloadFolderOptions, "vaultId" | "folderId">,
): Promise<boolean> {
  return await hasJournal(client, directory, place);
}

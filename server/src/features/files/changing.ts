/** Renaming, moving, trashing, restoring and deleting one file. */
import { ServiceError } from "../../http/errors.ts";
import { type Principal, Reply } from "../../http/handlers.ts";
import type { EventKind } from "@coffer/contract";
import type { Session } from "../../ports/database.ts";
import type { FileRow } from "../../ports/tables.ts";
import { changeUsage } from "../account/store.ts";
import { type ActingDeps, noteChange, fileTarget, visible } from "../acting.ts";
import { findFolder } from "../folders/store.ts";
import { findPlace } from "../placing.ts";
import { toFile } from "./rules.ts";
import { BLOB_GRACE_MS, deleteFileRow, findFile, queueBlobDeletion, updateFile } from "./store.ts";
import { nameOrConflict, readReplaceable, refuseTakenName } from "./storing.ts";

export interface FileChange {
  readonly fileId: string;
  readonly ifMatch: string | undefined;
  readonly name?: string | undefined;
  /** null: to the top of its vault. */
  readonly folderId?: string | null | undefined;
}

export function changeFile(deps: ActingDeps, principal: Principal, change: FileChange): Promise<FileRow> {
  return deps.database.transaction(async (transaction) => {
    const old = await readReplaceable(transaction, principal, change);
    const wanted = change.folderId === undefined ? old.folder_id : change.folderId;
    const { folderId } = await findPlace(transaction, principal, { vaultId: old.vault_id, folderId: wanted });
    const row = { ...old, folder_id: folderId, name: change.name ?? old.name };
    if (row.folder_id === old.folder_id && row.name === old.name) return old;
    return writeFile(transaction, deps, principal, { ...row, updated_at: deps.clock.now() }, "file.updated");
  });
}

/** A second time changes nothing: the row is kept, so the answer is the same. */
export function trashFile(deps: ActingDeps, principal: Principal, fileId: string): Promise<FileRow> {
  return deps.database.transaction(
    async (transaction) => {
      const old = await readAny(transaction, principal, fileId);
      if (old.trashed_at !== null) return old;
      const now = deps.clock.now();
      const row = { ...old, trashed_at: now, updated_at: now };
      await updateFile(transaction, row);
      await note(transaction, deps, principal, row, "file.trashed");
      return row;
    },
    { freesSpace: true },
  );
}

export async function deleteFile(deps: ActingDeps, principal: Principal, fileId: string, permanent: boolean) {
  if (!permanent) return { file: toFile(await trashFile(deps, principal, fileId)) };
  if (principal.accessLevel !== "owner")
    throw new ServiceError("owner_only", "Only the account owner may delete for good");
  await deps.database.transaction(
    async (transaction) => removeFile(transaction, deps, principal, await readAny(transaction, principal, fileId)),
    { freesSpace: true },
  );
  return new Reply(undefined, { status: 204 });
}

/** Deletes a file for good: its row, its share of the usage, and, later, its blob. */
export async function removeFile(
  transaction: Session,
  deps: ActingDeps,
  principal: Principal,
  row: FileRow,
): Promise<void> {
  await deleteFileRow(transaction, row.id);
  await queueBlobDeletion(transaction, { blobKey: row.blob_key, notBefore: deps.clock.now() + BLOB_GRACE_MS });
  await changeUsage(transaction, {
    accountId: row.account_id,
    bytes: -row.size,
    files: -1,
    maximum: Number.MAX_SAFE_INTEGER,
  });
  await note(transaction, deps, principal, row, "file.deleted");
}

/** Back to its folder, or to the top of the vault when that is gone or in the trash itself. */
export function restoreFile(
  deps: ActingDeps,
  principal: Principal,
  fileId: string,
  name: string | undefined,
): Promise<FileRow> {
  return deps.database.transaction(async (transaction) => {
    const old = await readAny(transaction, principal, fileId);
    if (old.trashed_at === null) throw new ServiceError("not_trashed");
    const folder =
      old.folder_id === null ? null : await findFolder(transaction, { id: old.folder_id, accountId: old.account_id });
    const back = { folder_id: folder?.trashed_at === null ? folder.id : null, trashed_at: null, trashed_with: null };
    const row = { ...old, ...back, name: name ?? old.name, updated_at: deps.clock.now() };
    return writeFile(transaction, deps, principal, row, "file.restored");
  });
}

async function readAny(session: Session, principal: Principal, fileId: string): Promise<FileRow> {
  return visible(principal, await findFile(session, { id: fileId, accountId: principal.accountId }), "File");
}

async function writeFile(
  transaction: Session,
  deps: ActingDeps,
  principal: Principal,
  row: FileRow,
  action: EventKind,
): Promise<FileRow> {
  await refuseTakenName(
    transaction,
    { vaultId: row.vault_id, folderId: row.folder_id },
    { name: row.name, ifNoneMatch: false },
  );
  await nameOrConflict(updateFile(transaction, row));
  await note(transaction, deps, principal, row, action);
  return row;
}

function note(
  transaction: Session,
  deps: ActingDeps,
  principal: Principal,
  row: FileRow,
  action: EventKind,
): Promise<void> {
  return noteChange(transaction, deps, principal, action, fileTarget(row));
}

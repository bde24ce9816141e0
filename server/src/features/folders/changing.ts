/** Making, renaming and moving folders. */
import { type EventKind, MAX_FOLDER_DEPTH } from "@coffer/contract";
import { ServiceError } from "../../http/errors.ts";
import type { Principal } from "../../http/handlers.ts";
import { ConstraintError, type Session } from "../../ports/database.ts";
import type { FolderRow } from "../../ports/tables.ts";
import { type ActingDeps, noteChange, folderTarget } from "../acting.ts";
import { findPlace, readFolder } from "../placing.ts";
import {
  findFolderIdByName,
  type FolderPlace,
  insertFolder,
  liesWithin,
  readDeepest,
  shiftDepths,
  updateFolder,
} from "./store.ts";

export interface NewFolder {
  readonly name: string;
  readonly vaultId?: string | undefined;
  readonly parentId?: string | null | undefined;
}

/** Throws what {@link findPlace} throws, `too_deep` and `name_exists`. */
export async function createFolder(
  transaction: Session,
  deps: ActingDeps,
  principal: Principal,
  folder: NewFolder,
): Promise<FolderRow> {
  const place = await findPlace(transaction, principal, { vaultId: folder.vaultId, folderId: folder.parentId });
  refuseTooDeep(place.depth + 1);
  const now = deps.clock.now();
  const row: FolderRow = {
    ...{ id: deps.random.uuid(), account_id: principal.accountId, vault_id: place.vaultId, parent_id: place.folderId },
    ...{
      name: folder.name,
      depth: place.depth + 1,
      created_at: now,
      updated_at: now,
      trashed_at: null,
      trashed_with: null,
      shared_json: null,
    },
  };
  await refuseTakenFolderName(transaction, { vaultId: row.vault_id, parentId: row.parent_id }, row.name);
  await folderNameOrConflict(insertFolder(transaction, row));
  await noteFolder(transaction, deps, principal, row, "folder.created");
  return row;
}

export interface FolderChange {
  readonly folderId: string;
  readonly name?: string | undefined;
  /** null: to the top of its vault. */
  readonly parentId?: string | null | undefined;
}

/** Throws `trashed`, `folder_cycle`, `too_deep` (the deepest folder below counts), `different_vault` and `name_exists`. */
export function changeFolder(deps: ActingDeps, principal: Principal, change: FolderChange): Promise<FolderRow> {
  return deps.database.transaction(async (transaction) => {
    const old = await readFolder(transaction, principal, change.folderId);
    if (old.trashed_at !== null) throw new ServiceError("trashed", "The folder is in the trash");
    const moved = await move(transaction, principal, old, change.parentId);
    const row = { ...moved, name: change.name ?? old.name };
    if (row.name === old.name && row.parent_id === old.parent_id) return old;
    await refuseTakenFolderName(transaction, { vaultId: row.vault_id, parentId: row.parent_id }, row.name);
    const written = { ...row, updated_at: deps.clock.now() };
    await folderNameOrConflict(updateFolder(transaction, written));
    await shiftDepths(transaction, row.id, row.depth - old.depth);
    await noteFolder(transaction, deps, principal, written, "folder.updated");
    return written;
  });
}

async function move(
  transaction: Session,
  principal: Principal,
  old: FolderRow,
  parentId: string | null | undefined,
): Promise<FolderRow> {
  if (parentId === undefined || parentId === old.parent_id) return old;
  const place = await findPlace(transaction, principal, { vaultId: old.vault_id, folderId: parentId });
  if (parentId !== null && (await liesWithin(transaction, old.id, parentId))) throw new ServiceError("folder_cycle");
  const depth = place.depth + 1;
  refuseTooDeep((await readDeepest(transaction, old.id, "live")) + depth - old.depth);
  return { ...old, parent_id: place.folderId, depth };
}

function refuseTooDeep(depth: number): void {
  if (depth > MAX_FOLDER_DEPTH) throw new ServiceError("too_deep", `Folders nest at most ${MAX_FOLDER_DEPTH} deep`);
}

export async function refuseTakenFolderName(session: Session, place: FolderPlace, name: string): Promise<void> {
  if ((await findFolderIdByName(session, place, name)) !== null) throw nameTaken();
}

/** Where writers run side by side, the unique index has the last word. */
export async function folderNameOrConflict(write: Promise<void>): Promise<void> {
  try {
    await write;
  } catch (cause) {
    throw cause instanceof ConstraintError ? nameTaken(cause) : cause;
  }
}

export function noteFolder(
  transaction: Session,
  deps: ActingDeps,
  principal: Principal,
  row: FolderRow,
  action: EventKind,
): Promise<void> {
  return noteChange(transaction, deps, principal, action, folderTarget(row));
}

function nameTaken(cause?: unknown): ServiceError {
  return new ServiceError("name_exists", "A folder of this name exists in this place", { cause });
}

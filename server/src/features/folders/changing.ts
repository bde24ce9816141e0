/** Making, renaming and moving folders. */
import { type EventKind, MAX_FOLDER_DEPTH, type SharedEntry } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { Principal } from "../../handler.ts";
import { isTaken, type Queries } from "../../ports/database.ts";
import type { FolderRow } from "../../ports/tables.ts";
import { ServiceError } from "../../service-error.ts";
import { type AccountAct, actAs } from "../account/act.ts";
import { type ActingDeps, noteChange, folderTarget } from "../acting.ts";
import { requireRevision } from "../items/conditions.ts";
import { refuseEntry } from "../folder-names/entries.ts";
import { type Permits, withPermits } from "../reach/permits.ts";
import { findPlace, type FoundPlace } from "../items/placing.ts";
import { readFolderFor } from "../reach/items.ts";
import { changeSharedFolder, createSharedFolder } from "./changing-shared.ts";
import {
  findFolderIdByName,
  type FolderPlace,
  insertFolder,
  liesWithin,
  readDeepest,
  shiftDepths,
  updateFolder,
} from "./store.ts";

export type ChangingDeps = ActingDeps & Pick<Deps, "chain">;

export interface NewFolder {
  readonly name?: string | undefined;
  readonly vaultId?: string | undefined;
  readonly parentId?: string | null | undefined;
  readonly shared?: SharedEntry | undefined;
}

/**
 * Throws what {@link findPlace} throws, `too_deep` and `name_exists`; in a shared vault what the entry is refused with. There the same
 * folder again answers what it made.
 */
export async function createFolder(
  act: AccountAct,
  deps: ActingDeps,
  principal: Principal,
  { folder, permits }: { readonly folder: NewFolder; readonly permits: Permits },
): Promise<FolderRow> {
  const place = await findPlace(act, principal, { vaultId: folder.vaultId, folderId: folder.parentId });
  refuseTooDeep(place.depth + 1);
  const { vault } = place;
  const made =
    vault === null
      ? { ...newFolder(deps, place, folder), exists: false }
      : await createSharedFolder(act, principal, {
          place: { ...place, vault },
          folder,
          permits,
          now: deps.clock.now(),
        });
  const { exists, ...row } = made;
  if (exists) return row;
  await refuseTakenFolderName(act, { vaultId: row.vault_id, parentId: row.parent_id }, row.name);
  await folderNameOrConflict(insertFolder(act, row));
  await noteFolder(act, principal, row, "folder.created");
  return row;
}

function newFolder(deps: ActingDeps, place: FoundPlace, { name, shared }: NewFolder): FolderRow {
  refuseEntry(shared);
  if (name === undefined) throw new ServiceError("validation_failed", "body.name: a name is required");
  const now = deps.clock.now();
  return {
    ...{ id: deps.random.uuid(), account_id: place.accountId, vault_id: place.vaultId, parent_id: place.folderId },
    ...{ name, depth: place.depth + 1, created_at: now, updated_at: now },
    ...{ trashed_at: null, trashed_with: null, shared_json: null, revision: 1 },
  };
}

export interface FolderChange {
  readonly folderId: string;
  readonly ifMatch: string | undefined;
  readonly name?: string | undefined;
  /** null: to the top of its vault. */
  readonly parentId?: string | null | undefined;
  readonly shared?: SharedEntry | undefined;
}

/** Throws `trashed`, `folder_cycle`, `too_deep` (the deepest folder below counts), `different_vault` and `name_exists`. */
export function changeFolder(deps: ChangingDeps, principal: Principal, change: FolderChange): Promise<FolderRow> {
  return withPermits(deps, principal, (permits) =>
    actAs(deps, principal, async (act) => {
      const { row: old, vault } = await readFolderFor(act, principal, change.folderId);
      const isRotated = vault?.standing === "owner" && change.parentId === undefined;
      if (old.trashed_at !== null && !isRotated) throw new ServiceError("trashed", "The folder is in the trash");
      requireRevision(change.ifMatch, old);
      const moved = await move(act, principal, old, change.parentId);
      if (vault === null) refuseEntry(change.shared);
      const row =
        vault === null
          ? { ...moved, name: change.name ?? old.name }
          : await changeSharedFolder(act, { old, moved, vault, change, permits });
      if (row.name === old.name && row.parent_id === old.parent_id && row.shared_json === old.shared_json) return old;
      return writeFolder(act, principal, { old, row: { ...row, updated_at: deps.clock.now() } });
    }),
  );
}

async function writeFolder(
  act: AccountAct,
  principal: Principal,
  { old, row: changed }: { readonly old: FolderRow; readonly row: FolderRow },
): Promise<FolderRow> {
  const row = { ...changed, revision: old.revision + 1 };
  const takesName = row.name !== old.name || row.parent_id !== old.parent_id;
  if (takesName && row.trashed_at === null)
    await refuseTakenFolderName(act, { vaultId: row.vault_id, parentId: row.parent_id }, row.name);
  await folderNameOrConflict(updateFolder(act, row));
  await shiftDepths(act, row.id, row.depth - old.depth);
  await noteFolder(act, principal, row, "folder.updated");
  return row;
}

async function move(
  act: AccountAct,
  principal: Principal,
  old: FolderRow,
  parentId: string | null | undefined,
): Promise<FolderRow> {
  if (parentId === undefined || parentId === old.parent_id) return old;
  const place = await findPlace(act, principal, { vaultId: old.vault_id, folderId: parentId });
  if (parentId !== null && (await liesWithin(act, old.id, parentId))) throw new ServiceError("folder_cycle");
  const depth = place.depth + 1;
  refuseTooDeep((await readDeepest(act, old.id, "live")) + depth - old.depth);
  return { ...old, parent_id: place.folderId, depth };
}

function refuseTooDeep(depth: number): void {
  if (depth > MAX_FOLDER_DEPTH) throw new ServiceError("too_deep", `Folders nest at most ${MAX_FOLDER_DEPTH} deep`);
}

export async function refuseTakenFolderName(queries: Queries, place: FolderPlace, name: string): Promise<void> {
  if ((await findFolderIdByName(queries, place, name)) !== null) throw nameTaken();
}

/** Where writers run side by side, the unique index has the last word. */
export async function folderNameOrConflict(write: Promise<void>): Promise<void> {
  try {
    await write;
  } catch (cause) {
    throw isTaken(cause, "folders_live_name") ? nameTaken(cause) : cause;
  }
}

export function noteFolder(act: AccountAct, principal: Principal, row: FolderRow, action: EventKind): Promise<void> {
  return noteChange(act, principal, action, folderTarget(row));
}

function nameTaken(cause?: unknown): ServiceError {
  return new ServiceError("name_exists", "A folder of this name exists in this place", { cause });
}

/** Making folders, and what renaming, moving, trashing and restoring are for them: all below goes along. */
import { MAX_FOLDER_DEPTH, type SharedEntry } from "@coffer/contract";
import type { Principal } from "../../handler.ts";
import type { FolderRow } from "../../ports/tables.ts";
import { ServiceError } from "../../service-error.ts";
import type { AccountAct } from "../account/act.ts";
import { type ActingDeps, recordChange, folderTarget } from "../acting.ts";
import { refuseEntry } from "../folder-names/entries.ts";
import { renderAuthor } from "../items/authors.ts";
import type { ChangingDeps, Particulars, WrittenChange } from "../items/changing.ts";
import { NEW_ENTRY } from "../items/entries.ts";
import { nameOrConflict, refuseTakenName } from "../items/names.ts";
import { findPlace, type FoundPlace } from "../items/placing.ts";
import type { Permits } from "../reach/permits.ts";
import { findItem } from "../reach/store.ts";
import { startTreeAct } from "../tree-acts/writing.ts";
import { createSharedFolder, requireRestorable } from "./changing-shared.ts";
import { insertFolder, liesWithin, readDeepest } from "./store.ts";

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
      ? { ...newFolder(deps, place, folder, await renderAuthor(act, principal, place.accountId)), exists: false }
      : await createSharedFolder(act, principal, {
          place: { ...place, vault },
          folder,
          permits,
          now: deps.clock.now(),
        });
  const { exists, ...row } = made;
  if (exists) return row;
  await refuseTakenName(act, "folder", { vaultId: row.vault_id, folderId: row.parent_id }, row);
  await nameOrConflict(insertFolder(act, row));
  await recordChange(act, principal, "folder.created", folderTarget(row));
  return row;
}

function newFolder(deps: ActingDeps, place: FoundPlace, { name, shared }: NewFolder, author: string): FolderRow {
  refuseEntry(shared);
  if (name === undefined) throw new ServiceError("validation_failed", "body.name: a name is required");
  const now = deps.clock.now();
  return {
    id: deps.random.uuid(),
    account_id: place.accountId,
    vault_id: place.vaultId,
    parent_id: place.folderId,
    name,
    depth: place.depth + 1,
    created_at: now,
    updated_at: now,
    trashed_at: null,
    trashed_with: null,
    shared_json: null,
    revision: 1,
    created_by: author,
    updated_by: null,
    ...NEW_ENTRY,
  };
}

export const FOLDERS: Particulars<"folder"> = {
  kind: "folder",
  restored: "folder.restored",
  target: folderTarget,
  move,
  findWayBack,
  settle,
};

type FolderPlace = Pick<FolderRow, "parent_id" | "depth">;

/** Throws `folder_cycle` and `too_deep`: the deepest folder below counts. */
async function move(act: AccountAct, old: FolderRow, { folderId, depth }: FoundPlace): Promise<FolderPlace> {
  if (folderId !== null && (await liesWithin(act, old.id, folderId))) throw new ServiceError("folder_cycle");
  refuseTooDeep((await readDeepest(act, old.id, "live")) + depth + 1 - old.depth);
  return { parent_id: folderId, depth: depth + 1 };
}

/** To the top of the vault also when its parent lies too deep by now. */
async function findWayBack(act: AccountAct, old: FolderRow): Promise<FolderPlace> {
  const { parent_id: id, account_id: accountId, trashed_with: trashedWith } = old;
  if (trashedWith === null) throw new Error(`folder ${old.id} is in the trash through no deletion`);
  const parent = id === null ? null : await findItem(act, "folder", { id, accountId });
  const below = (await readDeepest(act, old.id, { trashedWith })) - old.depth;
  if (parent?.trashed_at !== null || parent.depth + 1 + below > MAX_FOLDER_DEPTH) return { parent_id: null, depth: 1 };
  return { parent_id: parent.id, depth: parent.depth + 1 };
}

/**
 * Items that went to the trash in the same act come back with the folder, and those trashed before stay there. A
 * folder that went along with one above it comes back with its own part only.
 */
async function settle(
  act: AccountAct,
  deps: ChangingDeps,
  { old, row, vault }: WrittenChange<"folder">,
): Promise<void> {
  const { trashed_at, trashed_with } = old;
  if (row.trashed_at !== null && trashed_at === null) {
    await startTreeAct(act, deps, row, { kind: "trash", trashed_at: row.trashed_at, trashed_with: null });
  } else if (row.trashed_at === null && trashed_with !== null) {
    if (vault !== null) await requireRestorable(act, vault, row, trashed_with);
    await startTreeAct(act, deps, row, { kind: "restore", trashed_at: null, trashed_with });
  } else if (row.depth !== old.depth) {
    await startTreeAct(act, deps, row, { kind: "move", trashed_at: null, trashed_with: null });
  }
}

function refuseTooDeep(depth: number): void {
  if (depth > MAX_FOLDER_DEPTH) throw new ServiceError("too_deep", `Folders nest at most ${MAX_FOLDER_DEPTH} deep`);
}

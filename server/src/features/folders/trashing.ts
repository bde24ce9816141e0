/** Sending folders to the trash with all below them, and bringing them back. */
import { MAX_FOLDER_DEPTH } from "@coffer/contract";
import { ServiceError } from "../../http/errors.ts";
import type { Principal } from "../../http/handlers.ts";
import type { Session } from "../../ports/database.ts";
import type { FolderRow } from "../../ports/tables.ts";
import type { ActingDeps } from "../acting.ts";
import { readFolder } from "../placing.ts";
import { folderNameOrConflict, noteFolder, refuseTakenFolderName } from "./changing.ts";
import { findFolder, readDeepest, restoreTree, shiftDepths, trashTree, updateFolder } from "./store.ts";

/** A second time changes nothing: the row is kept, so the answer is the same. */
export function trashFolder(deps: ActingDeps, principal: Principal, folderId: string): Promise<FolderRow> {
  return deps.database.transaction(
    async (transaction) => {
      const old = await readFolder(transaction, principal, folderId);
      if (old.trashed_at !== null) return old;
      const now = deps.clock.now();
      await trashTree(transaction, folderId, now);
      await noteFolder(transaction, deps, principal, old, "folder.trashed");
      return { ...old, trashed_at: now, trashed_with: folderId };
    },
    { freesSpace: true },
  );
}

/**
 * Brings back the folder with what went to the trash in the same act: what had been trashed before stays there. To the
 * top of the vault when its parent is gone, in the trash, or lies too deep by now. Of a folder that went along with one
 * above it only its own part comes back.
 */
export function restoreFolder(
  deps: ActingDeps,
  principal: Principal,
  folderId: string,
  name: string | undefined,
): Promise<FolderRow> {
  return deps.database.transaction(async (transaction) => {
    const old = await readFolder(transaction, principal, folderId);
    if (old.trashed_at === null || old.trashed_with === null) throw new ServiceError("not_trashed");
    const place = await findWayBack(transaction, old, old.trashed_with);
    const row: FolderRow = {
      ...old,
      ...place,
      name: name ?? old.name,
      trashed_at: null,
      trashed_with: null,
      updated_at: deps.clock.now(),
    };
    await refuseTakenFolderName(transaction, { vaultId: row.vault_id, parentId: row.parent_id }, row.name);
    await restoreTree(transaction, row.id, old.trashed_with);
    await folderNameOrConflict(updateFolder(transaction, row));
    await shiftDepths(transaction, row.id, row.depth - old.depth);
    // There is no event kind `folder.restored` (decisions §6).
    await noteFolder(transaction, deps, principal, row, "folder.updated");
    return row;
  });
}

async function findWayBack(
  transaction: Session,
  old: FolderRow,
  trashedWith: string,
): Promise<Pick<FolderRow, "parent_id" | "depth">> {
  const parent =
    old.parent_id === null ? null : await findFolder(transaction, { id: old.parent_id, accountId: old.account_id });
  const below = (await readDeepest(transaction, old.id, { trashedWith })) - old.depth;
  if (parent?.trashed_at !== null || parent.depth + 1 + below > MAX_FOLDER_DEPTH) return { parent_id: null, depth: 1 };
  return { parent_id: parent.id, depth: parent.depth + 1 };
}

/** Sending folders to the trash with all below them, and bringing them back. */
import { MAX_FOLDER_DEPTH } from "@coffer/contract";
import { ServiceError } from "../../service-error.ts";
import type { Principal } from "../../handler.ts";
import type { FolderRow } from "../../ports/tables.ts";
import type { SharedEntry } from "@coffer/contract";
import { type AccountAct, actAs } from "../account/act.ts";
import { refuseEntry } from "../folder-names/entries.ts";
import { withPermits } from "../reach/permits.ts";
import { readFolderFor } from "../reach/items.ts";
import { type ChangingDeps, folderNameOrConflict, noteFolder, refuseTakenFolderName } from "./changing.ts";
import { alignRestored, nameRestoredFolder } from "./changing-shared.ts";
import { findItem } from "../reach/store.ts";
import { readDeepest, restoreTree, shiftDepths, trashTree, updateFolder } from "./store.ts";

/** A second time changes nothing: the row is kept, so the answer is the same. */
export function trashFolder(deps: ChangingDeps, principal: Principal, folderId: string): Promise<FolderRow> {
  return withPermits(deps, principal, (permits) =>
    actAs(
      deps,
      principal,
      async (act) => {
        const { row: old, vault } = await readFolderFor(act, principal, folderId);
        permits.use(vault);
        if (old.trashed_at !== null) return old;
        const now = deps.clock.now();
        await trashTree(act, folderId, now);
        await noteFolder(act, principal, old, "folder.trashed");
        return { ...old, trashed_at: now, trashed_with: folderId, revision: old.revision + 1 };
      },
      { freesSpace: true },
    ),
  );
}

/** How a folder comes back: under the name it has, or another. */
export interface Restoring {
  readonly name?: string | undefined;
  readonly shared?: SharedEntry | undefined;
}

/**
 * Brings back the folder with what went to the trash in the same act: what had been trashed before stays there. To the
 * top of the vault when its parent is gone, in the trash, or lies too deep by now. Of a folder that went along with one
 * above it only its own part comes back.
 */
export function restoreFolder(
  deps: ChangingDeps,
  principal: Principal,
  folderId: string,
  restoring: Restoring,
): Promise<FolderRow> {
  return withPermits(deps, principal, (permits) =>
    actAs(deps, principal, async (act) => {
      const { row: old, vault } = await readFolderFor(act, principal, folderId);
      permits.use(vault);
      if (old.trashed_at === null || old.trashed_with === null) throw new ServiceError("not_trashed");
      const place = await findWayBack(act, old, old.trashed_with);
      if (vault === null) refuseEntry(restoring.shared);
      const named =
        vault === null
          ? { name: restoring.name ?? old.name }
          : await nameRestoredFolder(act, { old, parentId: place.parent_id, vault, restoring, permits });
      const back = { trashed_at: null, trashed_with: null, updated_at: deps.clock.now(), revision: old.revision + 1 };
      const row: FolderRow = { ...old, ...place, ...named, ...back };
      await refuseTakenFolderName(act, { vaultId: row.vault_id, parentId: row.parent_id }, row.name);
      // In the trash, entries can be given names that others there have: what comes back must be apart again.
      await folderNameOrConflict(restoreTree(act, row.id, old.trashed_with));
      await folderNameOrConflict(updateFolder(act, row));
      await shiftDepths(act, row.id, row.depth - old.depth);
      if (vault !== null) await alignRestored(act, vault, row.id);
      // There is no event kind `folder.restored` (decisions §6).
      await noteFolder(act, principal, row, "folder.updated");
      return row;
    }),
  );
}

async function findWayBack(
  act: AccountAct,
  old: FolderRow,
  trashedWith: string,
): Promise<Pick<FolderRow, "parent_id" | "depth">> {
  const parent =
    old.parent_id === null ? null : await findItem(act, "folders", { id: old.parent_id, accountId: old.account_id });
  const below = (await readDeepest(act, old.id, { trashedWith })) - old.depth;
  if (parent?.trashed_at !== null || parent.depth + 1 + below > MAX_FOLDER_DEPTH) return { parent_id: null, depth: 1 };
  return { parent_id: parent.id, depth: parent.depth + 1 };
}

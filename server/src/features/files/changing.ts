/** Renaming, moving, trashing and restoring one file. */
import type { EventKind, SharedEntry } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { Principal } from "../../handler.ts";
import type { FileRow } from "../../ports/tables.ts";
import { ServiceError } from "../../service-error.ts";
import { type AccountAct, actAs } from "../account/act.ts";
import { type ActingDeps, noteChange, fileTarget } from "../acting.ts";
import { refuseEntry } from "../folder-names/entries.ts";
import { findItem } from "../reach/store.ts";
import { withPermits } from "../reach/permits.ts";
import { findPlace } from "../items/placing.ts";
import { readFileFor } from "../reach/items.ts";
import { changeSharedFile, nameRestored } from "./changing-shared.ts";
import { requireRevision } from "../items/conditions.ts";
import { updateFile } from "./store.ts";
import { nameOrConflict, readChangeable, refuseTakenName } from "./storing.ts";

export type ChangingDeps = ActingDeps & Pick<Deps, "chain">;

export interface FileChange {
  readonly fileId: string;
  readonly ifMatch: string | undefined;
  readonly name?: string | undefined;
  /** null: to the top of its vault. */
  readonly folderId?: string | null | undefined;
  readonly shared?: SharedEntry | undefined;
}

export function changeFile(deps: ChangingDeps, principal: Principal, change: FileChange): Promise<FileRow> {
  return withPermits(deps, principal, (permits) =>
    actAs(deps, principal, async (act) => {
      const { row: old, vault } = await readChangeable(act, principal, change.fileId);
      requireRevision(change.ifMatch, old);
      const wanted = change.folderId === undefined ? old.folder_id : change.folderId;
      if (vault !== null) {
        const { row, changes } = await changeSharedFile(act, principal, {
          old,
          vault,
          wanted,
          change,
          permits,
        });
        if (!changes) return old;
        const stamped = { ...row, updated_at: deps.clock.now() };
        return writeFile(act, principal, { old, row: stamped, action: "file.updated" });
      }
      refuseEntry(change.shared);
      const { folderId } = await findPlace(act, principal, { vaultId: old.vault_id, folderId: wanted });
      const row = { ...old, folder_id: folderId, name: change.name ?? old.name, updated_at: deps.clock.now() };
      if (row.folder_id === old.folder_id && row.name === old.name) return old;
      return writeFile(act, principal, { old, row, action: "file.updated" });
    }),
  );
}

/** A second time changes nothing: the row is kept, so the answer is the same. */
export function trashFile(deps: ChangingDeps, principal: Principal, fileId: string): Promise<FileRow> {
  return withPermits(deps, principal, (permits) =>
    actAs(
      deps,
      principal,
      async (act) => {
        const { row: old, vault } = await readFileFor(act, principal, fileId);
        permits.use(vault);
        if (old.trashed_at !== null) return old;
        const now = deps.clock.now();
        const row = { ...old, trashed_at: now, updated_at: now, revision: old.revision + 1 };
        await updateFile(act, row);
        await note(act, principal, row, "file.trashed");
        return row;
      },
      { freesSpace: true },
    ),
  );
}

/** How a file comes back: under the name it has, or another. */
export interface Restoring {
  readonly name?: string | undefined;
  readonly shared?: SharedEntry | undefined;
}

/** Back to its folder, or to the top of the vault when that is gone or in the trash itself. */
export function restoreFile(
  deps: ChangingDeps,
  principal: Principal,
  fileId: string,
  restoring: Restoring,
): Promise<FileRow> {
  return withPermits(deps, principal, (permits) =>
    actAs(deps, principal, async (act) => {
      const { row: old, vault } = await readFileFor(act, principal, fileId);
      permits.use(vault);
      if (old.trashed_at === null) throw new ServiceError("not_trashed");
      const folder =
        old.folder_id === null
          ? null
          : await findItem(act, "folders", { id: old.folder_id, accountId: old.account_id });
      const back = { folder_id: folder?.trashed_at === null ? folder.id : null, trashed_at: null, trashed_with: null };
      if (vault === null) refuseEntry(restoring.shared);
      const named =
        vault === null
          ? { name: restoring.name ?? old.name }
          : await nameRestored(act, { old, vault, folderId: back.folder_id, restoring, permits });
      const row = { ...old, ...back, ...named, updated_at: deps.clock.now() };
      return writeFile(act, principal, { old, row, action: "file.restored" });
    }),
  );
}

async function writeFile(
  act: AccountAct,
  principal: Principal,
  { old, row: changed, action }: { readonly old: FileRow; readonly row: FileRow; readonly action: EventKind },
): Promise<FileRow> {
  const row = { ...changed, revision: old.revision + 1 };
  if (takesName(old, row)) {
    const place = { vaultId: row.vault_id, folderId: row.folder_id };
    await refuseTakenName(act, place, { name: row.name, ifNoneMatch: false });
  }
  await nameOrConflict(updateFile(act, row));
  await note(act, principal, row, action);
  return row;
}

/** Whether the row is in a place and of a name that it did not have before. What is in the trash has none. */
function takesName(old: FileRow, row: FileRow): boolean {
  if (row.trashed_at !== null) return false;
  return old.trashed_at !== null || old.name !== row.name || old.folder_id !== row.folder_id;
}

function note(act: AccountAct, principal: Principal, row: FileRow, action: EventKind): Promise<void> {
  return noteChange(act, principal, action, fileTarget(row));
}

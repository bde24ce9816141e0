/** Deletes for good what has been in the trash for 30 days (decisions §5). */
import { type EventObject, TRASH_DAYS } from "@coffer/contract";
import { type AccountAct, actOn } from "../features/account/act.ts";
import { fileObject, folderObject } from "../features/changes/objects.ts";
import { grantByService } from "../features/deletion/grants.ts";
import { dropKeptVersions } from "../features/files/kept-versions-store.ts";
import { queueBlobDeletion } from "../features/files/store.ts";
import { purgeVault } from "../features/vaults/deleting.ts";
import type { FolderRow } from "../ports/tables.ts";
import {
  deleteEmptyFolders,
  deleteFolderNames,
  deleteTrashedFile,
  findEmptyFolder,
  findOldTrashedVault,
  listOldTrash,
  listOldTrashedVaults,
  type TrashedFile,
} from "./store.ts";
import type { JobDeps } from "./job-deps.ts";

const DAY = 24 * 60 * 60_000;

type Purging = Pick<JobDeps, "database" | "clock" | "random">;

/** Files before folders: a folder goes when nothing lies in it. */
export async function purgeTrash(
  deps: Purging,
  signal: AbortSignal,
): Promise<{ files: number; folders: number; vaults: number }> {
  const cutoff = deps.clock.now() - TRASH_DAYS * DAY;
  let files = 0;
  while (!signal.aborted) {
    const rows = await listOldTrash(deps.database, cutoff);
    if (rows.length === 0) break;
    for (const [accountId, ofAccount] of Map.groupBy(rows, (row) => row.account_id)) {
      files += await actOn(deps, accountId, (act) => purgeFiles(deps, act, ofAccount, cutoff), { freesSpace: true });
    }
  }
  let folders = 0;
  while (!signal.aborted) {
    const accountId = await findEmptyFolder(deps.database, cutoff);
    if (accountId === null) break;
    folders += await actOn(deps, accountId, (act) => purgeFolders(act, cutoff), { freesSpace: true });
  }
  return { files, folders, vaults: await purgeVaults(deps, signal, cutoff) };
}

/** Each in an act of its own: one that was restored since it was listed stays. */
async function purgeVaults(deps: Purging, signal: AbortSignal, cutoff: number): Promise<number> {
  let purged = 0;
  for (const { id, account_id: accountId } of await listOldTrashedVaults(deps.database, cutoff)) {
    if (signal.aborted) break;
    purged += await actOn(
      deps,
      accountId,
      async (act) => {
        const vault = await findOldTrashedVault(act, id, cutoff);
        if (vault !== null) await purgeVault(act, deps, null, vault, grantByService(id));
        return vault === null ? 0 : 1;
      },
      { freesSpace: true },
    );
  }
  return purged;
}

async function purgeFiles(
  deps: Purging,
  act: AccountAct,
  rows: readonly TrashedFile[],
  cutoff: number,
): Promise<number> {
  let count = 0;
  for (const row of rows) {
    if ((await deleteTrashedFile(act, row, cutoff)) === 0) continue;
    act.free({ bytes: row.size, files: 1 });
    await queueBlobDeletion(act, row, deps.clock.now());
    if (row.shared_json !== null) await dropKeptVersions(act, { fileId: row.id, notBefore: deps.clock.now() });
    await recordDeletion(act, row, { kind: "file", object: fileObject(row) });
    count += 1;
  }
  return count;
}

type PurgedFolder = Pick<FolderRow, "id" | "account_id" | "vault_id" | "parent_id" | "shared_json">;

/** Some of the leaves: what still holds something stays, and so does all above it, until a later round. */
async function purgeFolders(act: AccountAct, cutoff: number): Promise<number> {
  const rows: PurgedFolder[] = await deleteEmptyFolders(act, act.account.id, cutoff);
  for (const row of rows) {
    if (row.shared_json !== null) await deleteFolderNames(act, row);
    await recordDeletion(act, row, { kind: "folder", object: folderObject(row) });
  }
  return rows.length;
}

async function recordDeletion(
  act: AccountAct,
  row: Pick<FolderRow, "id" | "account_id" | "vault_id">,
  { kind, object }: { readonly kind: "file" | "folder"; readonly object: EventObject },
): Promise<void> {
  await act.note({
    accountId: row.account_id,
    action: `${kind}.deleted`,
    actor: null,
    target: { kind, id: row.id, vaultId: row.vault_id },
    object,
  });
}

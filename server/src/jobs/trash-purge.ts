/** Deletes for good what has been in the trash for 30 days (decisions §5). */
import { type EventObject, TRASH_DAYS } from "@coffer/contract";
import { changeUsage } from "../features/account/store.ts";
import { fileObject, folderObject } from "../features/changes/objects.ts";
import { recordChange } from "../features/changes/store.ts";
import { grantByService } from "../features/deletion/grants.ts";
import { dropKeptVersions } from "../features/files/kept-versions-store.ts";
import { queueBlobDeletion } from "../features/files/store.ts";
import { purgeVault } from "../features/vaults/deleting.ts";
import type { Queries } from "../ports/database.ts";
import type { FolderRow } from "../ports/tables.ts";
import {
  deleteEmptyFolders,
  deleteFolderNames,
  deleteTrashedFile,
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
    files += await deps.database.transaction((transaction) => purgeFiles(deps, transaction, rows, cutoff), {
      freesSpace: true,
    });
  }
  let folders = 0;
  while (!signal.aborted) {
    const purged = await deps.database.transaction((transaction) => purgeFolders(deps, transaction, cutoff), {
      freesSpace: true,
    });
    if (purged === 0) break;
    folders += purged;
  }
  return { files, folders, vaults: await purgeVaults(deps, signal, cutoff) };
}

/** Each in a transaction of its own: one that was restored since it was listed stays. */
async function purgeVaults(deps: Purging, signal: AbortSignal, cutoff: number): Promise<number> {
  let purged = 0;
  for (const { id } of await listOldTrashedVaults(deps.database, cutoff)) {
    if (signal.aborted) break;
    purged += await deps.database.transaction(
      async (transaction) => {
        const vault = await findOldTrashedVault(transaction, id, cutoff);
        if (vault !== null) await purgeVault(transaction, deps, null, vault, grantByService(id));
        return vault === null ? 0 : 1;
      },
      { freesSpace: true },
    );
  }
  return purged;
}

async function purgeFiles(
  deps: Purging,
  transaction: Queries,
  rows: readonly TrashedFile[],
  cutoff: number,
): Promise<number> {
  let count = 0;
  for (const row of rows) {
    if ((await deleteTrashedFile(transaction, row.id, cutoff)) === 0) continue;
    await changeUsage(transaction, { accountId: row.account_id, bytes: -row.size, files: -1, maximum: 0 });
    await queueBlobDeletion(transaction, { blobKey: row.blob_key, notBefore: deps.clock.now() });
    if (row.shared_json !== null) await dropKeptVersions(transaction, { fileId: row.id, notBefore: deps.clock.now() });
    await recordDeletion(deps, transaction, row, { kind: "file", object: fileObject(row) });
    count += 1;
  }
  return count;
}

type PurgedFolder = Pick<FolderRow, "id" | "account_id" | "vault_id" | "parent_id" | "shared_json">;

/** Some of the leaves: what still holds something stays, and so does all above it, until a later round. */
async function purgeFolders(deps: Purging, transaction: Queries, cutoff: number): Promise<number> {
  const rows: PurgedFolder[] = await deleteEmptyFolders(transaction, cutoff);
  for (const row of rows) {
    if (row.shared_json !== null) await deleteFolderNames(transaction, row);
    await recordDeletion(deps, transaction, row, { kind: "folder", object: folderObject(row) });
  }
  return rows.length;
}

async function recordDeletion(
  deps: Purging,
  transaction: Queries,
  row: Pick<FolderRow, "id" | "account_id" | "vault_id">,
  { kind, object }: { readonly kind: "file" | "folder"; readonly object: EventObject },
): Promise<void> {
  await recordChange(transaction, {
    accountId: row.account_id,
    action: `${kind}.deleted`,
    actor: null,
    target: { kind, id: row.id, vaultId: row.vault_id },
    object,
    occurredAt: deps.clock.now(),
    id: deps.random.uuid(),
  });
}

/** Deletes for good what has been in the trash for 30 days (decisions §5). */
import { TRASH_DAYS } from "@coffer/contract";
import { type AccountAct, actOn } from "../features/account/act.ts";
import { grantByService } from "../features/deletion/grants.ts";
import { removeFile } from "../features/files/deletion.ts";
import { removeFolder } from "../features/folders/deleting.ts";
import { findEmptyTrashedFolders } from "../features/items/trash-store.ts";
import { purgeVault } from "../features/vaults/deleting.ts";
import { listTreeActsIn } from "../features/tree-acts/store.ts";
import { isPurging } from "../features/vaults/purging-store.ts";
import type { FileRow } from "../ports/tables.ts";
import { BATCH, findEmptyFolder, findOldTrashedVault, listOldTrash, listOldTrashedVaults } from "./store.ts";
import type { JobDeps } from "./job-deps.ts";

const DAY = 24 * 60 * 60_000;

type Purging = Pick<JobDeps, "database" | "clock" | "random" | "settings">;

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
      files += await actOn(deps, accountId, (act) => purgeFiles(deps, act, ofAccount), { freesSpace: true });
    }
  }
  let folders = 0;
  while (!signal.aborted) {
    const accountId = await findEmptyFolder(deps.database, cutoff);
    if (accountId === null) break;
    folders += await actOn(deps, accountId, (act) => purgeFolders(deps, act, cutoff), { freesSpace: true });
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

/** What has changed since it was listed stays, what an act on its folder is bringing back, and what counts as gone with its vault. */
async function purgeFiles(deps: Purging, act: AccountAct, rows: readonly FileRow[]): Promise<number> {
  let count = 0;
  for (const row of rows) {
    if (act.writtenRows >= deps.settings.limits.actRows) break;
    if ((await listTreeActsIn(act, row.vault_id)).length > 0 || (await isPurging(act, row.vault_id))) continue;
    if (await removeFile(act, deps, null, row, grantByService(row.vault_id))) count += 1;
  }
  return count;
}

/** Some of the leaves: what still holds something stays, and so does all above it, until a later round. */
async function purgeFolders(deps: Purging, act: AccountAct, until: number): Promise<number> {
  const rows = await findEmptyTrashedFolders(act, { accountId: act.account.id, until }, BATCH);
  let count = 0;
  for (const row of rows) {
    if (act.writtenRows >= deps.settings.limits.actRows) break;
    if (await removeFolder(act, deps, null, row, grantByService(row.vault_id))) count += 1;
  }
  return count;
}

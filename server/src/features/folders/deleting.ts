/** Deleting one folder for good. */
import type { Deps } from "../../deps.ts";
import type { FolderRow } from "../../ports/tables.ts";
import type { AccountAct } from "../account/act.ts";
import { folderTarget, recordChange } from "../acting.ts";
import type { Actor } from "../changes/store.ts";
import type { DeletionGrant } from "../deletion/grants.ts";
import { dropFolderNames } from "../folder-names/staged-store.ts";
import { removeHistory } from "../files/history-removal.ts";
import { deleteItem } from "../items/store.ts";

/** One that holds nothing. False: it is not as it was read, so it was not deleted. `actor`: null where it ends by time. */
export async function removeFolder(
  act: AccountAct,
  deps: Pick<Deps, "clock" | "settings">,
  actor: Actor | null,
  row: FolderRow,
  grant: DeletionGrant,
): Promise<boolean> {
  const isShared = row.shared_json !== null;
  grant.requireFor({ vaultId: row.vault_id, isShared });
  act.requireAccount(row.account_id);
  if (!(await deleteItem(act, "folder", row))) return false;
  if (isShared) await dropFolderNames(act, { vaultId: row.vault_id, folderId: row.id });
  await recordChange(act, actor, "folder.deleted", folderTarget(row));
  const reason = actor === null ? "expired" : "deleted";
  await removeHistory(act, deps, { id: row.id, vault_id: row.vault_id, reason });
  return true;
}

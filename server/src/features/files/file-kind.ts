/** What renaming, moving, trashing and restoring are for files. */
import type { FileRow } from "../../ports/tables.ts";
import type { AccountAct } from "../account/act.ts";
import { fileTarget } from "../acting.ts";
import type { Particulars } from "../items/changing.ts";
import { findItem } from "../reach/store.ts";

export const FILES: Particulars<"file"> = {
  kind: "file",
  restored: "file.restored",
  target: fileTarget,
  move: (_act, _old, { folderId }) => Promise.resolve({ folder_id: folderId }),
  findWayBack,
};

async function findWayBack(act: AccountAct, old: FileRow): Promise<Pick<FileRow, "folder_id">> {
  const { folder_id: id, account_id: accountId } = old;
  const folder = id === null ? null : await findItem(act, "folder", { id, accountId });
  return { folder_id: folder?.trashed_at === null ? folder.id : null };
}

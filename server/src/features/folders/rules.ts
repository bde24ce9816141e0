/** What holds for folders, without any I/O. */
import type { Folder, SharedEntry } from "@coffer/contract";
import type { FolderRow } from "../../ports/tables.ts";
import type { ListedRows } from "../items/store.ts";
import { showAuthor, type Viewer } from "../items/authors.ts";
import { toTimestamp } from "../timestamps.ts";

/** As the caller may see it. */
export function toFolder(row: ListedRows["folder"], viewer: Viewer): Folder {
  const shared = sharedEntryOf(row);
  return {
    id: row.id,
    revision: row.revision,
    name: shared?.nameIndex === row.name ? "" : row.name,
    vaultId: row.vault_id,
    parentId: row.parent_id,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
    createdBy: showAuthor(row.created_by, viewer, row),
    updatedBy: showAuthor(row.updated_by ?? row.created_by, viewer, row),
    trashedAt: row.trashed_at === null ? null : toTimestamp(row.trashed_at),
    shared,
  };
}

/** The entry of a shared vault's folder; null in a public vault. */
export function sharedEntryOf(row: Pick<FolderRow, "shared_json">): SharedEntry | null {
  return row.shared_json === null ? null : (JSON.parse(row.shared_json) as SharedEntry);
}

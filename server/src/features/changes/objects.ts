/** What a change says of its object to webhooks and the event feed: ids, sizes, places. Never a name (decisions §6). */
import type { EventObject } from "@coffer/contract";
import type { FileRow, FolderRow, VaultRow } from "../../ports/tables.ts";

type FileFacts = Pick<FileRow, "id" | "vault_id" | "folder_id" | "version_id" | "size" | "encrypted">;

export function fileObject(row: FileFacts): EventObject<"file.uploaded"> {
  return {
    type: "file",
    id: row.id,
    vaultId: row.vault_id,
    folderId: row.folder_id,
    versionId: row.version_id,
    size: row.size,
    encrypted: row.encrypted === 1,
  };
}

export function folderObject(row: Pick<FolderRow, "id" | "vault_id" | "parent_id">): EventObject<"folder.created"> {
  return { type: "folder", id: row.id, vaultId: row.vault_id, parentId: row.parent_id };
}

export function vaultObject(row: Pick<VaultRow, "id" | "type">): EventObject<"vault.created"> {
  return { type: "vault", id: row.id, vaultType: row.type };
}

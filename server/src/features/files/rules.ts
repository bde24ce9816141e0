/** What holds for files, without any I/O. */
import type { File, SharedFile } from "@coffer/contract";
import { showAuthor, type Viewer } from "../items/authors.ts";
import { toTimestamp } from "../timestamps.ts";
import type { FileRow } from "../../ports/tables.ts";
import type { ListedRows } from "../items/store.ts";

/** The media type of a body without one (RFC 9110 §8.3). */
export const DEFAULT_CONTENT_TYPE = "application/octet-stream";

/** As the caller may see it. */
export function toFile(row: ListedRows["file"], viewer: Viewer): File {
  const shared = sharedOf(row);
  return {
    id: row.id,
    versionId: row.version_id,
    revision: row.revision,
    name: shownName(row, shared),
    size: row.size,
    contentType: row.content_type,
    sha256: row.sha256,
    vaultId: row.vault_id,
    folderId: row.folder_id,
    encrypted: row.encrypted === 1,
    shared,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
    createdBy: showAuthor(row.created_by, viewer, row),
    updatedBy: showAuthor(row.updated_by ?? row.created_by, viewer, row),
    trashedAt: row.trashed_at === null ? null : toTimestamp(row.trashed_at),
  };
}

/** The statements of a shared vault's file; null in a public vault. */
export function sharedOf(row: Pick<FileRow, "shared_json">): SharedFile | null {
  return row.shared_json === null ? null : (JSON.parse(row.shared_json) as SharedFile);
}

/** "" for a name index, which shows a reader nothing: it is the row's name where names are encrypted. */
export function shownName(row: { readonly name: string }, shared: Pick<SharedFile, "nameIndex"> | null): string {
  return shared?.nameIndex === row.name ? "" : row.name;
}

/** The strong entity tag of a content (RFC 9110 §8.8.3): the same bytes have the same tag. */
export function etagOf(row: Pick<FileRow, "sha256">): string {
  return `"sha256-${Buffer.from(row.sha256, "hex").toString("base64url")}"`;
}

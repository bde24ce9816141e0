/** The rows of a local index of names. */

/** A file as the index keeps it. It holds no paths: a folder's new name or place changes one row. */
export interface NameRow {
  readonly id: string;
  readonly versionId: string;
  readonly revision: number;
  readonly name: string;
  readonly contentType: string;
  readonly size: number;
  readonly folderId: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Chain address; null: nobody has proved it. */
  readonly createdBy: string | null;
  readonly updatedBy: string | null;
  readonly trashedAt: string | null;
}

export interface FolderRow {
  readonly parentId: string | null;
  readonly trashedAt: string | null;
}

export type IndexRow =
  | { readonly kind: "folder"; readonly id: string; readonly folder: FolderRow }
  | { readonly kind: "file"; readonly id: string; readonly file: NameRow }
  | { readonly kind: "unreadable"; readonly id: string };

/** Rows are sorted by it: a folder's files are together, and so are the folders in it. */
export function keyOfRow(row: IndexRow): string {
  if (row.kind === "unreadable") return `unreadable ${row.id}`;
  const parentId = row.kind === "file" ? row.file.folderId : row.folder.parentId;
  return `${row.kind} ${parentId ?? "top"} ${row.id}`;
}

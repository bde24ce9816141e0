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
  /** Names the statements that were verified, as a condition of a change. */
  readonly tag: string;
  /** Of the stored bytes, in hexadecimal digits, as the service says. */
  readonly sha256: string;
}

export interface FolderRow {
  readonly name: string;
  readonly tag: string;
  readonly parentId: string | null;
  readonly trashedAt: string | null;
}

/** A file or folder whose name does not verify, at the place that the service names. */
export interface UnreadableRow {
  readonly item: "file" | "folder";
  readonly parentId: string | null;
  readonly trashedAt: string | null;
  /** Why: the code of an error. */
  readonly code: string;
}

export type IndexRow =
  | { readonly kind: "folder"; readonly id: string; readonly folder: FolderRow }
  | { readonly kind: "file"; readonly id: string; readonly file: NameRow }
  | { readonly kind: "unreadable"; readonly id: string; readonly unreadable: UnreadableRow };

/** Rows are sorted by it: a folder's files are together, and so are the folders in it. */
export function keyOfRow(row: IndexRow): string {
  if (row.kind === "unreadable") return `unreadable ${row.id}`;
  const parentId = row.kind === "file" ? row.file.folderId : row.folder.parentId;
  return `${row.kind} ${parentId ?? "top"} ${row.id}`;
}

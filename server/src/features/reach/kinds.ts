/** The two kinds of items: each has a table of its own, with a column that says in which folder the item lies. */
import type { FileRow, FolderRow } from "../../ports/tables.ts";

export interface ItemRows {
  readonly file: FileRow;
  readonly folder: FolderRow;
}

export type ItemKind = keyof ItemRows;

/** What an item may change of itself. */
export type ItemColumns = Partial<FileRow> & Partial<FolderRow>;

export const ITEMS = {
  file: { table: "files", place: "folder_id" },
  folder: { table: "folders", place: "parent_id" },
} as const;

export const ITEM_KINDS = ["file", "folder"] as const;

export function eachKind<Made>(make: (kind: ItemKind) => Made): Readonly<Record<ItemKind, Made>> {
  return { file: make("file"), folder: make("folder") };
}

/** The folder that it lies in; null: the top of its vault. */
export function folderIdOf(row: FileRow | FolderRow): string | null {
  return "parent_id" in row ? row.parent_id : row.folder_id;
}

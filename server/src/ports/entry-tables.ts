/** Authors of files and folders, and the names and places that those had (decision 0051). */

/** Columns of files and folders about their authors, and about their current name and place. */
export interface AuthoredRow {
  /** The contract's `Author` in JSON; null: it was made before authors were noted. */
  created_by: string | null;
  /** null: nobody noted it, or whoever made it. */
  updated_by: string | null;
  /** The number of the current entry, its name and place. The first is 1. */
  entry_number: number;
  /** Its time, source and author. null for the first: those of the item. */
  entry_at: number | null;
  entry_how: string | null;
  entry_author: string | null;
}

/** A name and place that a file or folder had (decision 0051). */
export interface ItemEntryRow {
  vault_id: string;
  item_id: string;
  number: number;
  name: string;
  folder_id: string | null;
  /** The contract's `SharedEntry`; null in a public vault. */
  shared_json: string | null;
  how: string;
  author: string | null;
  /** Entries of one author have the same; "" for one that was not noted. */
  author_key: string;
  created_at: number;
  replaced_at: number;
  expires_at: number;
}

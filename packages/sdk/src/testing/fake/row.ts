import type { Budgets, FileEntry } from "@coffer/contract";

/** A row of any kind: its account, and its place in the order of creation. */
export interface Row<Value> {
  readonly accountId: string;
  readonly sequence: number;
  value: Value;
}

/** A name and place of an item. Without the field of the place, which files and folders name differently. */
export interface KeptEntry {
  readonly value: Omit<FileEntry, "folderId">;
  readonly place: string | null;
  /** Milliseconds since 1970; null: the current one. */
  readonly replacedAt: number | null;
}

/** The date of rows, and their order. */
export interface Ticking {
  /** Milliseconds since 1970. */
  now(): number;
  next(): number;
}

/** One budget; a key has its own and those of the keys that made it. */
export interface Budget {
  readonly limits: Budgets;
  written: { readonly at: number; readonly bytes: number; readonly files: number }[];
  /** When all its requests are left again, in milliseconds since 1970. */
  requestsFullAt: number;
}

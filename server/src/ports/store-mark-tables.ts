/** The row by which a database and its blob store know each other (features/pairing). */

export interface StoreMarkTables {
  readonly store_marks: StoreMarkRow;
}

/** At most one row. */
export interface StoreMarkRow {
  /** Always 1. */
  id: number;
  /** Of the store, for as long as both belong together. */
  store_id: string;
  /** What the store's mark has, or gets next. */
  token: string;
  /** What the store had when `token` was noted: a renewal may have ended between both. */
  previous_token: string | null;
  /** null: the store has not taken the first mark yet. */
  renewed_at: number | null;
  /** Why nothing is deleted in the store until an operator adopts it: a `Doubt`. null: deletion goes on. */
  stopped: string | null;
}

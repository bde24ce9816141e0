/** The rows of what unfinished uploads hold, and of budgets. */

/** Bytes that an upload in one request may still add. A killed process's row counts until it expires. */
export interface UploadHoldRow {
  id: string;
  account_id: string;
  bytes: number;
  expires_at: number;
}

/** What keys with budgets have stored (decision 0057). */
export interface BudgetRow {
  id: string;
  /** The budget of the key that made this one: it counts there too. */
  parent_id: string | null;
  /** The `size` of files and the `charged` of versions that have this budget. */
  stored_bytes: number;
}

/** What was written in a quarter of an hour. */
export interface BudgetSlotRow {
  budget_id: string;
  slot: number;
  bytes: number;
  files: number;
}

/** One unfinished upload's claim. It goes with the row that it belongs to. */
export interface BudgetHoldRow {
  id: string;
  budget_id: string;
  hold_id: string | null;
  upload_id: string | null;
  bytes: number;
  expires_at: number;
}

/** A bucket that all processes fill together, see features/rates/store.ts. */
export interface RateRow {
  key: string;
  /** When it is full again, in microseconds by the clock of the database. */
  full_at: number;
}

export interface BudgetTables {
  rates: RateRow;
  upload_holds: UploadHoldRow;
  budgets: BudgetRow;
  budget_slots: BudgetSlotRow;
  budget_holds: BudgetHoldRow;
}

/** The rows behind ports/running-time.ts. */

export interface RunningTables {
  readonly running_marks: RunningMarkRow;
}

/** At most one row. */
export interface RunningMarkRow {
  /** Always 1. */
  id: number;
  /** How long servers have run in all. Milliseconds. */
  total: number;
  /** What the clock of the server said that marked it. */
  marked_at: number;
  /** `total` when the clock was last found to be doubtful; null: it is believed. */
  doubted_at: number | null;
  /** What was found then. */
  doubt: string | null;
}

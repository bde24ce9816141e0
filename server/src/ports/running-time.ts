/** For how long servers have run on these rows, and whether their clock can be believed. */

/**
 * What a job counts in that deletes something later: a clock that is set, and a server that does not run, make nothing older. Kept as rows
 * (jobs/running-time.ts), so it is one time for all processes that share them.
 */
export interface RunningTime {
  /** Milliseconds that servers on these rows have run in all, by the monotonic clock, as of the last mark; never goes back. */
  total(): Promise<number>;
  /** null: jobs may delete and expire; otherwise why they wait. */
  doubt(): Promise<string | null>;
}

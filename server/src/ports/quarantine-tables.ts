/** Rows about contents that are to be deleted later, and about how long that is. */

export interface QuarantineTables {
  readonly blob_deletions: BlobDeletionRow;
  readonly blob_quarantine: QuarantineRow;
  readonly sweeps: SweepRow;
}

/**
 * Why a content is to be deleted. `deleted`: somebody deleted it for good. `expired`: its time in the trash or as a version was over.
 * `replaced`: another took its place. `orphan`: no row names it. `confirmed`: the same, and an operator had the sweep take it.
 * `upload`: bytes of an upload that was refused or abandoned, which never were a content.
 */
export type DeletionReason = "deleted" | "expired" | "replaced" | "orphan" | "confirmed" | "upload";

/** Blobs that no row needs any more; a job deletes them once `not_before` has passed. */
export interface BlobDeletionRow {
  blob_key: string;
  not_before: number;
  /** The account of the bytes; null: queued before accounts were noted. */
  account_id: string | null;
  bytes: number;
  reason: DeletionReason;
}

/** The content itself stays where it is in the store. */
export interface QuarantineRow {
  blob_key: string;
  reason: DeletionReason;
  /** The account that its bytes were counted for; null: nobody's. */
  account_id: string | null;
  bytes: number;
  since: number;
  /** The running time at which it may be deleted (ports/running-time.ts); null: only an operator deletes it. */
  ends: number | null;
  /** 1: its bytes are on their way out, and no row can name it any more. */
  deleting: number;
}

/** What the last sweep found: one row. */
export interface SweepRow {
  id: string;
  at: number;
  /** Contents in the store, and those among them that no row names, which the pass found. */
  contents: number;
  orphans: number;
  /** 1: they were so many that the sweep left all as it was. */
  stopped: number;
}

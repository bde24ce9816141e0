/** Rows about acts over many rows that are through for every reader, and not yet written into each row. */

import type { DeletionReason } from "./quarantine-tables.ts";

export interface TreeActTables {
  readonly tree_acts: TreeActRow;
  readonly ended_items: EndedItemRow;
}

/** An act on a folder: from this row on, all below it counts as changed. A job writes the rows, some at a time, and removes this one. */
export interface TreeActRow {
  /** The folder. Two acts never meet: what lies in one is locked for another. */
  root_id: string;
  account_id: string;
  vault_id: string;
  /** move: only how deep the folders lie changes, which no reader sees. */
  kind: "trash" | "restore" | "move";
  /** trash: when. null otherwise. */
  trashed_at: number | null;
  /** restore: the folder whose deletion took the rows along. null otherwise. */
  trashed_with: string | null;
  /** The account's newest change when it began: another act on the same folder has another. */
  sequence: number;
}

/** A file or folder that is gone for good, and whose versions and entries a job removes, some at a time. Nothing counts them any more. */
export interface EndedItemRow {
  item_id: string;
  account_id: string;
  vault_id: string;
  reason: DeletionReason;
  /** How many bytes of its versions are not yet queued for their deletion. */
  bytes: number;
}

/** Of vaults. */
export interface RetentionRow {
  /**
   * null: replaced versions and entries say themselves when they end. Else all of the vault's stay that long after they were replaced,
   * whatever they say, and a job writes it into them, some at a time. Milliseconds.
   */
  pending_retention: number | null;
}

/** Of vaults. */
export interface PurgedRow {
  /** null, unless it is deleted for good: then nobody sees it, and so many bytes of it are not yet queued for their deletion. */
  purging_bytes: number | null;
}

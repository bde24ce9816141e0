/** How long contents lie in quarantine, and when a sweep finds too many of them, without any I/O. */
import type { DeletionReason } from "../../ports/quarantine-tables.ts";

const HOUR = 60 * 60_000;
const DAY = 24 * HOUR;

/** Milliseconds of running time from the beginning of the quarantine to the deletion. */
const KEPT: Readonly<Record<DeletionReason, number>> = {
  orphan: 7 * DAY,
  confirmed: 7 * DAY,
  deleted: DAY,
  expired: DAY,
  replaced: DAY,
  upload: 0,
};

export function keptFor(reason: DeletionReason): number {
  return KEPT[reason];
}

/** So many orphans are what crashes leave; and no more than one in so many contents. */
const ORPHANS = 20;
const ONE_IN = 100;

/** What a pass over the store found. */
export interface Counted {
  /** Complete contents in the store. */
  readonly contents: number;
  /** Those that a file or a kept version names. */
  readonly named: number;
  /** Those that no row names, old enough to be taken. */
  readonly orphans: number;
  /** Those that passes of the last seven days took. */
  readonly before: number;
}

/**
 * Why a sweep takes nothing: crashes leave few contents without a row, so many of them say that the rows are not those of this
 * store. null: it goes on.
 */
export function whyStopped({ contents, named, orphans, before }: Counted): string | null {
  if (orphans === 0) return null;
  if (named === 0) return "no row names any of the contents";
  const all = orphans + before;
  return all > ORPHANS && all * ONE_IN > contents ? "too many contents have no row" : null;
}

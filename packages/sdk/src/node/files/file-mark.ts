/** Whether a file is still the one that was read, by what the file system says of it. */
import type { BigIntStats } from "node:fs";

/** What shows that a file is still the same. The file system may have a new number for its device after each start. */
export interface Mark {
  readonly size: number;
  /** Nanoseconds as decimal text, as the two below. */
  readonly modified: string;
  readonly changed: string;
  readonly inode: string;
}

export function markOf(stats: BigIntStats): Mark {
  return {
    size: Number(stats.size),
    modified: String(stats.mtimeNs),
    changed: String(stats.ctimeNs),
    inode: String(stats.ino),
  };
}

export function isSameMark(a: Mark, b: Mark): boolean {
  return a.size === b.size && a.modified === b.modified && a.changed === b.changed && a.inode === b.inode;
}

const FINE_MS = 50;
/** Some file systems count whole seconds, or two. */
const COARSE_MS = 2_100;

/**
 * The mark, if the next change of the file will show in its time; else null. `readAt`: when its content was about to be
 * read, in milliseconds since 1970.
 */
export function stableMark(mark: Mark, readAt = Date.now()): Mark | null {
  const step = mark.modified.endsWith("000000000") ? COARSE_MS : FINE_MS;
  return readAt - Number(BigInt(mark.modified) / 1_000_000n) > step ? mark : null;
}

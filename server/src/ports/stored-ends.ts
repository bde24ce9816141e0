/**
 * Ends that are stored, of leases, holds and waits. A clock that was ahead for a moment leaves ends behind that lie further ahead than any
 * can. Whoever waited for them would wait for as long as that clock was ahead, so such an end counts as over.
 */

/** How far clocks that are right may lie apart, of two processes or of one before and after a correction. Milliseconds. */
export const CLOCK_SLACK = 60_000;

/** The latest end that what lasts no longer than `longest` can have. Milliseconds. */
export function latestEnd(now: number, longest: number): number {
  return now + longest + CLOCK_SLACK;
}

export function isOver(end: number, now: number, longest: number): boolean {
  return end <= now || end > latestEnd(now, longest);
}

/** Which sizes parts have: at least 5 MiB but for the last, at most 10,000 of them (S3's limits). */
const MIB = 1024 * 1024;

export const PART_BYTES = 8 * MIB;
export const LEAST_PART_BYTES = 5 * MIB;
/** Room is left under 10,000 for parts that a taken over writer began. */
const MOST_PLANNED = 9_000;
/** A part costs the store something of its own. A lone upload may hold four of this size, and half of a fifth (s3.ts). */
const LONE_PART_BYTES = 16 * MIB;
const LONE_FROM_PARTS = 4;
/** From here on parts double with every step, for lengths that nobody announced. */
const SAME_UNTIL = 6_000;
const STEP = 1_000;
/** So long the end of an append may be a part that is smaller than it might be. */
const SHORT_UNTIL = 3_000;

/** The size of all parts of a blob of that length; null: unknown. */
export function partBytesFor(length: number | null, least = PART_BYTES): number {
  if (length === null || length <= least * MOST_PLANNED) return least;
  return Math.ceil(length / MOST_PLANNED / MIB) * MIB;
}

/** The least size for a long blob while no other is being sent. With many, parts of that size would be too much memory. */
export function leastWhenAlone(length: number | null): number {
  return length !== null && length >= LONE_FROM_PARTS * LONE_PART_BYTES ? LONE_PART_BYTES : LEAST_PART_BYTES;
}

/** The size of the part with that number; the first is 1. */
export function sizeOfPart(number: number, partBytes: number): number {
  return number <= SAME_UNTIL ? partBytes : partBytes * 2 ** Math.ceil((number - SAME_UNTIL) / STEP);
}

/** Whether bytes that are fewer than a whole part are made one, instead of waiting for more. */
export function mayBeShort(number: number, bytes: number): boolean {
  return bytes >= LEAST_PART_BYTES && number <= SHORT_UNTIL;
}

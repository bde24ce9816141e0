/** Which sizes parts have: at least 5 MiB but for the last, at most 10,000 of them (S3's limits). */
const MIB = 1024 * 1024;

const PART_BYTES = 16 * MIB;
export const LEAST_PART_BYTES = 5 * MIB;
/** Room is left under 10,000 for parts that a taken over writer began. */
const MOST_PLANNED = 9_000;
/** From here on parts double with every step, for lengths that nobody announced. */
const SAME_UNTIL = 6_000;
const STEP = 1_000;
/** So long the end of an append may be a part that is smaller than it might be. */
const SHORT_UNTIL = 3_000;

/** The size of all parts of a blob of that length; null: unknown. */
export function partBytesFor(length: number | null): number {
  if (length === null || length <= PART_BYTES * MOST_PLANNED) return PART_BYTES;
  return Math.ceil(length / MOST_PLANNED / MIB) * MIB;
}

/** The size of the part with that number; the first is 1. */
export function sizeOfPart(number: number, partBytes: number): number {
  return number <= SAME_UNTIL ? partBytes : partBytes * 2 ** Math.ceil((number - SAME_UNTIL) / STEP);
}

/** Whether bytes that are fewer than a whole part are made one, instead of waiting for more. */
export function mayBeShort(number: number, bytes: number): boolean {
  return bytes >= LEAST_PART_BYTES && number <= SHORT_UNTIL;
}

/** A point in a vault's history, to which a key and its signatures belong (file-format §6.3). */
import { concatBytes } from "./bytes.ts";
import { damaged, type CryptoStep } from "./errors.ts";
import { u64, type FieldReader } from "./fields.ts";

/** Ordered by generation, then by `after`: {@link comparePlaces}. */
export interface Place {
  /** The vault's counter of rights taken away; a u64. */
  readonly generation: bigint;
  /** The latest end of a membership that had been reached, in milliseconds since 1970: 0, or a multiple of {@link END_STEP_MS}. */
  readonly after: bigint;
}

/** The end of a membership that has none: the largest u64. */
export const NO_END: bigint = (1n << 64n) - 1n;

/** Ends lie on whole quarters of an hour: each one that passes makes a new place, and each place a key of its own. */
export const END_STEP_MS = 900_000n;

/** Below zero: `a` is the earlier place; 0: the same one. */
export function comparePlaces(a: Place, b: Place): number {
  if (a.generation !== b.generation) return a.generation < b.generation ? -1 : 1;
  if (a.after === b.after) return 0;
  return a.after < b.after ? -1 : 1;
}

/** The later of the two. */
export function laterPlace(a: Place, b: Place): Place {
  return comparePlaces(a, b) < 0 ? b : a;
}

/** 16 bytes. RangeError for an `after` that cannot be the end of a membership. */
export function encodePlace({ generation, after }: Place): Uint8Array {
  if (after % END_STEP_MS !== 0n) throw new RangeError("a place's time is a whole quarter of an hour");
  return concatBytes(u64(generation), u64(after));
}

/** Throws CryptoError `damaged` for an `after` that cannot be the end of a membership. */
export function readPlace(reader: FieldReader, step: CryptoStep): Place {
  const [generation, after] = [reader.readU64(), reader.readU64()];
  if (after % END_STEP_MS !== 0n) throw damaged(step, "the place's time is no whole quarter of an hour");
  return { generation, after };
}

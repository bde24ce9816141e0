/** Places of vault keys and statements (file-format §6.3): a generation, and the latest end of a membership that had been reached. */
import type { ChainVault } from "../../ports/chain.ts";

export interface Place {
  readonly generation: number;
  /** Milliseconds since 1970; 0 before any end. */
  readonly after: number;
}

/** Below zero: `one` is the earlier place. */
export function comparePlaces(one: Place, other: Place): number {
  return one.generation - other.generation || one.after - other.after;
}

/** Where the vault was when it was read. An entry whose end is marked has a generation of its own behind it. */
export function placeOf({ generation, members, time }: ChainVault): Place {
  const ends = members.map(({ endsAt, until }) => (until === null && endsAt !== null && endsAt <= time ? endsAt : 0));
  return { generation, after: ends.reduce((latest, end) => Math.max(latest, end), 0) };
}

/** Whether the vault had come so far when it was read. */
export function isReached({ generation, time }: ChainVault, place: Place): boolean {
  return place.generation <= generation && place.after <= time;
}

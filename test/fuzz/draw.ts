/** Chance with a seed: the same seed draws the same, so that a finding can be drawn again. */
import * as fc from "fast-check";

export interface Draw {
  /** A whole number from 0 up to, not including, `below`. */
  int(this: void, below: number): number;
  chance(this: void, probability: number): boolean;
  pick<Item>(this: void, items: readonly [Item, ...Item[]]): Item;
  /** An item of a list that may be empty. */
  any<Item>(this: void, items: readonly Item[]): Item | undefined;
  value<Value>(this: void, arbitrary: fc.Arbitrary<Value>): Value;
  bytes(this: void, length: number): Buffer;
}

/** mulberry32: 32 bits of state are plenty for choices. */
export function openDraw(seed: number): Draw {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const int = (below: number) => next() % below;
  const any = <Item>(items: readonly Item[]) => (items.length === 0 ? undefined : items[int(items.length)]);
  return {
    int,
    any,
    chance: (probability) => next() < probability * 2 ** 32,
    pick: (items) => any(items) ?? items[0],
    value(arbitrary) {
      const [value] = fc.sample(arbitrary, { numRuns: 1, seed: next() | 0 });
      return value as NonNullable<typeof value>;
    },
    bytes: (length) => Buffer.from(Array.from({ length }, () => int(256))),
  };
}

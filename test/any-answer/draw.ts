/** Chance from a seed: the same seed draws the same lies and calls. */
export interface Draw {
  /** 0 to 1, 1 excluded. */
  next(): number;
  chance(probability: number): boolean;
  /** 0 to `below`, which is excluded. */
  below(below: number): number;
  /** @throws TypeError for an empty list. */
  pick<Value>(values: readonly Value[]): Value;
  /** Letters and digits that no other call draws. */
  word(prefix: string): string;
  /** Chance of its own, from the seed and the label alone: whatever is drawn elsewhere, or at the same time, changes nothing of it. */
  fork(label: string): Draw;
}

/** mulberry32. */
export function openDraw(seed: number): Draw {
  let state = seed >>> 0;
  let words = 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (values) => {
      const value = values[below(values.length)];
      if (value === undefined) throw new TypeError("nothing to pick from");
      return value;
    },
    word: (prefix) => {
      words += 1;
      const random = Array.from({ length: 4 }, () =>
        below(2 ** 32)
          .toString(36)
          .padStart(7, "0"),
      ).join("");
      return `${prefix}${String(words)}x${random}`;
    },
    fork: (label) => openDraw(Array.from(label).reduce((sum, one) => Math.imul(sum, 31) + one.charCodeAt(0), ~seed)),
  };
}

import { describe, expect, it } from "vitest";
import { bindingOf, isRecorded, withSight, type Sight } from "./sight-rules.ts";
import { NOTHING_SEEN } from "./pin-facts.ts";
import type { Highest } from "./pins.ts";

const NOW = 1_800_000_000_000;
const LARGEST = 2n ** 64n - 1n;

const sight = (generation: bigint, seconds: number, more: Partial<Sight> = {}): Sight => ({
  generation,
  floor: 0n,
  plainNames: false,
  at: NOW + seconds * 1000,
  isWitnessed: false,
  ...more,
});

/** What is kept after these reads, in order. */
const after = (...sights: Sight[]): Highest => sights.reduce((kept, each) => withSight(each)(kept), NOTHING_SEEN);

describe("what a chain node shows", () => {
  it("is a candidate at first, which binds writes alone [N15]", () => {
    const kept = after(sight(LARGEST, 0));
    expect([kept.generation, bindingOf(kept).generation]).toEqual([0n, LARGEST]);
    const low = after(sight(2n, 0), sight(2n, 10), sight(2n, 11, { floor: LARGEST }));
    expect([low.generation, low.floor, bindingOf(low).floor]).toEqual([2n, 0n, LARGEST]);
  });

  it.each([
    ["a read ten seconds later that shows as much", sight(3n, 10), 3n],
    ["a read ten seconds later that shows more", sight(9n, 10), 3n],
    ["witnesses, at once", sight(3n, 1, { isWitnessed: true }), 3n],
    ["witnesses of something newer, which is then confirmed, too", sight(9n, 1, { isWitnessed: true }), 9n],
  ])("is confirmed by %s", (_who, second, confirmed) => {
    expect(after(sight(3n, 0), second).generation).toBe(confirmed);
  });

  it.each([
    ["a read before that", sight(3n, 9.999, { floor: 1n })],
    ["a read that shows less", sight(2n, 10)],
    ["a read that shows less of one of the two", sight(3n, 10, { floor: 0n })],
    ["less, with witnesses", sight(2n, 10, { isWitnessed: true })],
  ])("is not confirmed by %s", (_who, second) => {
    const kept = after(sight(3n, 0, { floor: 1n }), second);
    expect(kept.generation < 3n || kept.floor < 1n).toBe(true);
    expect(bindingOf(kept)).toMatchObject({ generation: 3n, floor: 1n });
  });

  it("may be a base alone, which is remembered and confirmed like a floor", () => {
    const once = after(sight(5n, 0), sight(5n, 11, { base: 3n }));
    expect([once.base, bindingOf(once).base]).toEqual([undefined, 3n]);
    const kept = after(sight(5n, 0), sight(5n, 11, { base: 3n }), sight(5n, 21, { base: 3n }), sight(5n, 40));
    expect([kept.base, bindingOf(kept).base]).toEqual([3n, 3n]);
    expect(after(sight(5n, 0, { base: 3n, isWitnessed: true })).base).toBe(3n);
  });

  it("that was made up keeps nothing else from being confirmed", () => {
    const kept = after(sight(2n, 0), sight(LARGEST, 1), sight(2n, 11), sight(3n, 12), sight(3n, 22));
    expect([kept.generation, bindingOf(kept).generation]).toEqual([3n, LARGEST]);
  });

  it("never goes back, once confirmed", () => {
    expect(after(sight(5n, 0), sight(5n, 10), sight(4n, 20), sight(4n, 40))).toMatchObject({
      generation: 5n,
      floor: 0n,
    });
  });

  it("waits for ten seconds anew when the clock is set back", () => {
    const back = after(sight(3n, 100), sight(3n, 0), sight(3n, 9));
    expect([back.generation, withSight(sight(3n, 10))(back).generation]).toEqual([0n, 3n]);
  });

  it("is kept in a few numbers, however many a node makes up", () => {
    const many = after(...Array.from({ length: 100 }, (_, at) => sight(LARGEST - BigInt(at), at / 100)));
    expect(many.candidates).toHaveLength(8);
    expect(bindingOf(many).generation).toBe(LARGEST);
  });

  it("is stored where it says something new, and not with each read", () => {
    expect(isRecorded(sight(1n, 0), NOTHING_SEEN)).toBe(false);
    const kept = after(sight(1n, 0));
    expect([isRecorded(sight(1n, 5), kept), isRecorded(sight(1n, 10), kept)]).toEqual([true, false]);
    const confirmed = after(sight(1n, 0), sight(1n, 10));
    expect([isRecorded(sight(1n, 20), confirmed), isRecorded(sight(2n, 20), confirmed)]).toEqual([true, false]);
  });

  it("keeps the latest end that was reached, of each generation it may be in", () => {
    const [early, late] = [900_000n, 1_800_000n];
    expect(after(sight(0n, 0, { after: late }), sight(0n, 1, { after: early })).after).toBe(late);
    const open = after(sight(3n, 0, { after: late }), sight(3n, 1, { after: early }));
    expect([open.after, open.candidates]).toEqual([
      undefined,
      [{ generation: 3n, after: late, floor: 0n, since: NOW }],
    ]);
    // What was made up of a later generation says nothing of this one.
    const confirmed = after(sight(3n, 0), sight(LARGEST, 1, { after: late }), sight(3n, 10, { after: early }));
    expect([confirmed.generation, confirmed.after]).toEqual([3n, early]);
    expect(isRecorded(sight(3n, 10, { after: late }), confirmed)).toBe(false);
    expect(withSight(sight(4n, 20, { isWitnessed: true }))(confirmed).after).toBeUndefined();
  });
});

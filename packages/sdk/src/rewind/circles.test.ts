/** Only items that wait for each other's names are in a circle. */
import { expect, it } from "vitest";
import { circlesOf } from "./circles.ts";

const circles = (...moves: [has: string, wants: string][]) =>
  circlesOf(moves.map(([has, wants]) => ({ item: has, has, wants })));

it("finds every item of each circle, and no other [D5-rewind]", () => {
  expect(circles(["a", "b"], ["b", "a"])).toEqual(["a", "b"]);
  expect(circles(["a", "b"], ["b", "c"], ["c", "a"], ["x", "y"], ["y", "x"])).toEqual(["a", "b", "c", "x", "y"]);
  expect(circles()).toEqual([]);
  expect(circles(["a", "b"])).toEqual([]);
  expect(circles(["a", "b"], ["b", "c"], ["c", "taken"])).toEqual([]);
  expect(circles(["c", "taken"], ["b", "c"], ["a", "b"])).toEqual([]);
  // One that only waits for a circle is not in it.
  expect(circles(["a", "b"], ["b", "c"], ["c", "b"])).toEqual(["b", "c"]);
  expect(circles(["b", "c"], ["c", "b"], ["a", "b"])).toEqual(["b", "c"]);
});

/** Only items that wait for each other's names are in a cycle. */
import { expect, it } from "vitest";
import { cyclesOf } from "./name-cycles.ts";

const cycles = (...moves: [current: string, target: string][]) =>
  cyclesOf(moves.map(([current, target]) => ({ item: current, current, target })));

it("finds every item of each cycle, and no other [D5-rewind]", () => {
  expect(cycles(["a", "b"], ["b", "a"])).toEqual(["a", "b"]);
  expect(cycles(["a", "b"], ["b", "c"], ["c", "a"], ["x", "y"], ["y", "x"])).toEqual(["a", "b", "c", "x", "y"]);
  expect(cycles()).toEqual([]);
  expect(cycles(["a", "b"])).toEqual([]);
  expect(cycles(["a", "b"], ["b", "c"], ["c", "taken"])).toEqual([]);
  expect(cycles(["c", "taken"], ["b", "c"], ["a", "b"])).toEqual([]);
  // One that only waits for a cycle is not in it.
  expect(cycles(["a", "b"], ["b", "c"], ["c", "b"])).toEqual(["b", "c"]);
  expect(cycles(["b", "c"], ["c", "b"], ["a", "b"])).toEqual(["b", "c"]);
});

import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { findStale, whereRows } from "./architecture.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const PAGE = readFileSync(path.join(ROOT, "ARCHITECTURE.md"), "utf8");

/** The rows that must be there, with how many places each names at least. */
const ASKED: readonly (readonly [want: string, places: number])[] = [
  ["add an endpoint", 5],
  ["add a driver", 6],
  ["add a tool", 4],
  ["add a command", 3],
  ["change If-Range, or another condition", 2],
  ["change a retry schedule", 4],
  ["see where a removed member's cached key stops counting", 6],
];

describe("ARCHITECTURE.md", () => {
  test("names files, functions and scripts that exist: after a move, name the new place there", () => {
    expect(findStale(PAGE, ROOT)).toEqual([]);
  });

  test.each(ASKED)("says in one row where to %s", (want, places) => {
    expect(whereRows(PAGE).get(want)?.length).toBeGreaterThanOrEqual(places);
  });
});

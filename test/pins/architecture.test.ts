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

const STEP = "## One thing, followed\n\n1. ";

describe("the check of ARCHITECTURE.md goes red for", () => {
  test.each([
    ["a file that is not there", "`server/src/gone.ts`", "there is no server/src/gone.ts"],
    ["a file that lies elsewhere", "`server/src/http/call.ts`, then `acting.ts`", "there is no acting.ts"],
    ["a folder that is empty", "`server/src/<group>/gone.ts`", "there is no server/src/<group>/gone.ts"],
    ["one of several files", "`server/src/{app,gone}.ts`", "there is no server/src/gone.ts"],
    ["a function of another name", "`buildAp` in `server/src/app.ts`", "buildAp is in none of server/src/app.ts"],
    ["a function without its file", "`buildApp`", "buildApp is in none of the files of its step, which names none"],
    [
      "a word that only a comment has",
      "`handler` in `server/src/service-error.ts`",
      "handler is in none of server/src/service-error.ts",
    ],
    ["a script that is not there", "`npm run gone`", "package.json has no script gone"],
  ])("%s", (_, text, says) => {
    expect(findStale(STEP + text, ROOT)).toEqual([`One thing, followed: ${says}`]);
  });

  test("nothing where all is right, be it named after what a path before it began with", () => {
    const text = "`buildApp` in `server/src/app.ts`, `http/implement.ts` and `call.ts`; `npm run generate`";
    expect(findStale(STEP + text, ROOT)).toEqual([]);
  });
});

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { OBSERVABLES } from "../acceptance/journeys/observable-requirements.ts";
import { claimsIn, titlesIn, type Claim } from "./claims.ts";

const ROOT = join(import.meta.dirname, "../..");
const claims = claimsIn(readFileSync(join(ROOT, "docs/threat-model.md"), "utf8"));
const built = new Set(OBSERVABLES.filter(({ status }) => status === "built").map(({ id }) => id));

describe("docs/threat-model.md", () => {
  it("claims nothing without naming a test", () => {
    expect(claims.length).toBeGreaterThan(30);
    expect(claims.filter(({ tests }) => tests.length === 0).map(({ text }) => text)).toEqual([]);
  });

  it("names tests that exist", () => {
    expect(claims.flatMap(missingTests)).toEqual([]);
  });
});

describe("the reading of claims", () => {
  const page = (...lines: string[]): Claim[] => claimsIn(["# T", "Intro.", "## A", ...lines].join("\n"));

  it("takes each item with all the tests it names, over several lines", () => {
    expect(page('- One. Test: `a.test.ts` › "b: c",', "  `J1-signup`", "- Two.")).toEqual([
      { text: "One.", tests: [{ file: "a.test.ts", title: "b: c" }, { observable: "J1-signup" }] },
      { text: "Two.", tests: [] },
    ]);
  });

  it("takes a paragraph among claims for one, and leaves out what says that nothing is protected", () => {
    expect(page("It is safe.").map(({ text }) => text)).toEqual(["It is safe."]);
    expect(page("## What is not protected", "- Sizes.", "All.")).toEqual([]);
  });

  it("finds the titles of tests, and of nothing else", () => {
    const text = 'it("a", () => {}); test.each([1])("b", () => {}); describe("c", () => {}); log("d"); // it("e")';
    expect([...titlesIn(text)]).toEqual(["a", "b", "c"]);
  });
});

/** The tests of a claim that are not there, as the page names them. */
function missingTests({ tests }: Claim): string[] {
  return tests.flatMap((named) => {
    if ("observable" in named) return built.has(named.observable) ? [] : [named.observable];
    const path = join(ROOT, named.file);
    const isThere = existsSync(path) && titlesIn(readFileSync(path, "utf8")).has(named.title);
    return isThere ? [] : [`${named.file} › ${named.title}`];
  });
}

import { readFileSync } from "node:fs";
import { join, matchesGlob } from "node:path";
import { describe, expect, it } from "vitest";
import configuration from "../../vitest.config.ts";
import { OBSERVABLES } from "../journeys/programs/observable-requirements.ts";
import { isBuilt } from "../journeys/programs/run.ts";
import { journeysOn } from "../journeys/programs/samples.ts";
import { citationsIn, claimIdsIn, claimsIn, findCitations, tableRowsIn } from "./claims.ts";

const ROOT = join(import.meta.dirname, "../..");
const page = readFileSync(join(ROOT, "docs/threat-model.md"), "utf8");
const claims = claimsIn(page);
/** What runs the observables of the journeys. */
const JOURNEY_TESTS = ["journeys", "journeys-stack", "journeys-shared"].map((name) => `test/journeys/${name}.test.ts`);
/** Observables of journeys that run without the full counts. */
const isShort = new Set(
  (["stack", "network"] as const).flatMap((ground) =>
    (["sample", "rest"] as const)
      .flatMap((which) => journeysOn(ground, which))
      .flatMap(({ observables }) => observables.filter((each) => isBuilt(each, ground)).map(({ id }) => id)),
  ),
);
/** Journeys (`[J20]`) are cited in the same brackets: their letter begins no claim. */
const letters = new Set(claims.map(({ id }) => id?.[0]));
const citations = [
  ...findCitations(ROOT),
  ...OBSERVABLES.filter(({ id, status }) => status === "built" && isShort.has(id)).flatMap(({ id: title, text }) =>
    claimIdsIn(text).map((id) => ({ id, file: JOURNEY_TESTS[0] ?? "", title, runs: true })),
  ),
].filter(({ id }) => letters.has(id[0]));

describe("docs/threat-model.md", () => {
  it("claims nothing that no test cites", () => {
    const cited = new Set(citations.map(({ id }) => id));
    expect(claims.length).toBeGreaterThan(100);
    expect(claims.filter(({ id }) => id === null || !cited.has(id))).toEqual([]);
  });

  it("has every claim that a test cites", () => {
    const ids = new Set(claims.map(({ id }) => id));
    expect(citations.filter(({ id }) => !ids.has(id))).toEqual([]);
  });

  it("is cited by tests that run whenever the tests run", () => {
    expect(citations.filter(({ file, runs }) => !runs || !runsByDefault(file))).toEqual([]);
    for (const file of JOURNEY_TESTS) expect(runsByDefault(file)).toBe(true);
  });

  it("rests each cell of its table on claims about the party of its row", () => {
    expect(tableRowsIn(page).length).toBeGreaterThan(8);
    expect(tableProblemsOf(page)).toEqual([]);
  });
});

it("a citation stands in the title of a test, and says whether something can skip it", () => {
  const text = `
    // [S1]
    describe("a group [S2]", () => {
      it("a [S3 M4]", () => {});
      it.each([1])("b [D5-versions S5]", () => {});
      it.skipIf(no)("c [S6]", () => {});
    });
    describe.runIf(yes)("another", () => test("d [S7]", () => {}));`;
  expect(citationsIn("a.test.ts", text).map(({ id, runs }) => `${id} ${String(runs)}`)).toEqual([
    "S3 true",
    "M4 true",
    "S5 true",
    "S6 false",
    "S7 false",
  ]);
});

interface Project {
  readonly name: string;
  readonly include?: string[];
  readonly exclude?: string[];
}

/** With `npm test` or with the deep tests: `.ci/run` calls both. */
function runsByDefault(file: string): boolean {
  // Hundreds of them are the path of one file, and a pattern takes long to read.
  const matches = (patterns: readonly string[]) =>
    patterns.some((pattern) => pattern === file || (/[*?{[(]/.test(pattern) && matchesGlob(file, pattern)));
  return (configuration.test?.projects ?? []).some((project) => {
    const { name, include = [], exclude = [] } = (project as { test: Project }).test;
    return !name.startsWith("nightly") && matches(include) && !matches(exclude);
  });
}

/** A party's section is the one whose heading begins with its name, whatever comes after it. */
function tableProblemsOf(text: string): string[] {
  const ids = claimsIn(text).flatMap(({ id }) => (id === null ? [] : [id]));
  const twice = [...new Set(ids.filter((id, at) => ids.indexOf(id) !== at))].map((id) => `${id} is there twice`);
  const sections = text.split(/^## /m).slice(1);
  return [
    ...twice,
    ...tableRowsIn(text).flatMap(({ party, cells }) => {
      const own = sections.filter((section) => section.toLowerCase().startsWith(party.toLowerCase()));
      if (own.length === 0) return [`${party} has no section`];
      const known = new Set(own.flatMap((section) => claimsIn(`## ${section}`).map(({ id }) => id)));
      return cells.flatMap(({ text: said, claims }) => {
        if (claims.length === 0) return [`${party}: ${said} names no claim`];
        const others = claims.filter((id) => !known.has(id));
        return others.length === 0 ? [] : [`${party}: ${said} names ${others.join(", ")} of other parties`];
      });
    }),
  ];
}

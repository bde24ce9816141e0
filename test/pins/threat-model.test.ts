import { existsSync, readFileSync } from "node:fs";
import { join, matchesGlob } from "node:path";
import { describe, expect, it } from "vitest";
import configuration from "../../vitest.config.ts";
import { OBSERVABLES } from "../acceptance/journeys/observable-requirements.ts";
import { CLAIM_TESTS, type ClaimTests, claimsIn, tableRowsIn, testsIn, type NamedTest } from "./claims.ts";

const ROOT = join(import.meta.dirname, "../..");
const page = readFileSync(join(ROOT, "docs/threat-model.md"), "utf8");
/** What runs the observables of the journeys. */
const JOURNEY_TESTS = ["journeys", "journeys-stack", "journeys-shared"].map(
  (name) => `test/acceptance/${name}.test.ts`,
);
const built = new Set(OBSERVABLES.filter(({ status }) => status === "built").map(({ id }) => id));

describe("docs/threat-model.md", () => {
  it("claims nothing without naming a test", () => {
    expect(claimsIn(page, CLAIM_TESTS).length).toBeGreaterThan(100);
    expect(problemsOf(page, CLAIM_TESTS).filter((problem) => problem.startsWith("no test"))).toEqual([]);
  });

  it("has every claim that tests are named for", () => {
    const ids = new Set(claimsIn(page, CLAIM_TESTS).map(({ id }) => id));
    expect(Object.keys(CLAIM_TESTS).filter((id) => !ids.has(id))).toEqual([]);
  });

  it("names tests that exist, and that run whenever the tests run", () => {
    expect(problemsOf(page, CLAIM_TESTS).filter((problem) => !problem.startsWith("no test"))).toEqual([]);
    for (const file of JOURNEY_TESTS) expect(runsByDefault(file)).toBe(true);
  });

  it("rests each cell of its table on claims about the party of its row", () => {
    expect(tableRowsIn(page).length).toBeGreaterThan(8);
    expect(tableProblemsOf(page)).toEqual([]);
  });
});

/** Of claims and of the tests that they name. */
function problemsOf(text: string, tests: ClaimTests): string[] {
  return claimsIn(text, tests).flatMap((claim) => {
    if (claim.tests.length === 0) return [`no test: ${claim.text}`];
    return claim.tests.flatMap(problemsOfTest);
  });
}

const standings = new Map<string, ReturnType<typeof testsIn>>();

function problemsOfTest(named: NamedTest): string[] {
  if ("observable" in named) return built.has(named.observable) ? [] : [`not built: ${named.observable}`];
  const { file, title } = named;
  const path = join(ROOT, file);
  if (!existsSync(path)) return [`not there: ${file}`];
  const tests = standings.get(file) ?? testsIn(readFileSync(path, "utf8"));
  standings.set(file, tests);
  const standing = tests.get(title);
  if (standing === undefined) return [`not there: ${file} › ${title}`];
  if (standing === "conditional") return [`does not always run: ${file} › ${title}`];
  return runsByDefault(file) ? [] : [`not in the default run: ${file}`];
}

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
  const ids = claimsIn(text, {}).flatMap(({ id }) => (id === null ? [] : [id]));
  const twice = [...new Set(ids.filter((id, at) => ids.indexOf(id) !== at))].map((id) => `${id} is there twice`);
  const sections = text.split(/^## /m).slice(1);
  return [
    ...twice,
    ...tableRowsIn(text).flatMap(({ party, cells }) => {
      const own = sections.filter((section) => section.toLowerCase().startsWith(party.toLowerCase()));
      if (own.length === 0) return [`${party} has no section`];
      const known = new Set(own.flatMap((section) => claimsIn(`## ${section}`, {}).map(({ id }) => id)));
      return cells.flatMap(({ text: said, claims }) => {
        if (claims.length === 0) return [`${party}: ${said} names no claim`];
        const others = claims.filter((id) => !known.has(id));
        return others.length === 0 ? [] : [`${party}: ${said} names ${others.join(", ")} of other parties`];
      });
    }),
  ];
}

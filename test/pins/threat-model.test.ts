import { existsSync, readFileSync } from "node:fs";
import { join, matchesGlob } from "node:path";
import { describe, expect, it } from "vitest";
import configuration from "../../vitest.config.ts";
import { OBSERVABLES } from "../acceptance/journeys/observable-requirements.ts";
import { CLAIM_TESTS, type ClaimTests, claimsIn, sentencesIn, tableRowsIn, testsIn, type NamedTest } from "./claims.ts";

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

describe("the rules bite", () => {
  const good = "test/pins/threat-model.test.ts › claims nothing without naming a test";

  it("on an item, a paragraph and a claim without a test, also of what is not protected", () => {
    const bad = ["# T", "Intro.", "", "## What is not protected", "- **Sizes.** Seen.", "", "A1 One.", "", "A2 Two."];
    const problems = problemsOf(bad.join("\n"), { A1: [good] });
    expect(problems).toEqual(["no test: **Sizes.** Seen.", "no test: Two."]);
  });

  it("on many sentences with one test", () => {
    const problems = (text: string) => problemsOf(`## T\n- A1 ${text}`, { A1: [good] });
    expect(problems("One. Two, e.g. `a. B`.")).toEqual([]);
    expect(problems("One. Two. Three. Four. Five.")).toEqual(["too long for its tests: One. Two. Three. Four. Five."]);
  });

  it("on a test that is not there, that is a group, that is skipped, or that the default run leaves out", () => {
    const of = (name: string) => problemsOf("## T\n- A1 One.", { A1: [name] }).join();
    expect(of("test/pins/threat-model.test.ts › no such test")).toMatch(/^not there/);
    expect(of("test/pins/nowhere.test.ts › x")).toMatch(/^not there/);
    expect(of("test/pins/threat-model.test.ts › the rules bite")).toMatch(/^not there/);
    expect(of("test/acceptance/no-such.test.ts › x")).toMatch(/^not there/);
    expect(of("J99-made-up")).toMatch(/^not built/);
    expect(runsByDefault("scripts/made-up.test.ts")).toBe(false);
    expect(runsByDefault("packages/sdk/dist/made-up.test.ts")).toBe(false);
  });

  it("on tests behind a condition, of their own or of a group around them", () => {
    const text = `it("a", f); test.each([1])("b", f); describe("c", () => { it("d", f); }); log("e"); // it("f")
      it.skip("g", f); test.todo("h"); it.runIf(FULL)("i", f); describe.skipIf(x).each([1])("j", () => { it("k", f); });`;
    expect([...testsIn(text)]).toEqual([
      ["a", "runs"],
      ["b", "runs"],
      ["d", "runs"],
      ["g", "conditional"],
      ["h", "conditional"],
      ["i", "conditional"],
      ["k", "conditional"],
    ]);
  });

  it("on a cell that names no claim, one that is not there, or one of another party, and on ids that are there twice", () => {
    const table = "| who | a | b |\n| - | - | - |\n| a thief | no: T1 | yes |\n| a ghost | no: T1, X9 | no: T1 |\n";
    const sections = "## A thief\n- T1 One.\n- T1 Two.\n## A ghost\n- G1 Three.\n";
    expect(tableProblemsOf(`${table}\n${sections}`)).toEqual([
      "T1 is there twice",
      "a thief: yes names no claim",
      "a ghost: no names T1, X9 of other parties",
      "a ghost: no names T1 of other parties",
    ]);
    expect(tableProblemsOf("| who | a |\n| - | - |\n| nobody | no: T1 |\n")).toEqual(["nobody has no section"]);
  });

  it("takes each item with all the tests it names, over several lines", () => {
    expect(claimsIn("## T\n- A1 One\n  and.\n- Two.", { A1: ["a.test.ts › b: c › d", "J1-signup"] })).toEqual([
      { id: "A1", text: "One and.", tests: [{ file: "a.test.ts", title: "b: c › d" }, { observable: "J1-signup" }] },
      { id: null, text: "Two.", tests: [] },
    ]);
  });
});

/** Of one claim, beside one for each test: short sentences are several. */
const SENTENCES = 3;

/** Of claims and of the tests that they name. */
function problemsOf(text: string, tests: ClaimTests): string[] {
  return claimsIn(text, tests).flatMap((claim) => {
    if (claim.tests.length === 0) return [`no test: ${claim.text}`];
    const long =
      sentencesIn(claim.text) > claim.tests.length + SENTENCES ? [`too long for its tests: ${claim.text}`] : [];
    return [...long, ...claim.tests.flatMap(problemsOfTest)];
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

/** With `npm test` or with the deep tests: `.ci/run` calls both. */
function runsByDefault(file: string): boolean {
  // Hundreds of them are the path of one file, and a pattern takes long to read.
  const matches = (patterns: readonly string[]) =>
    patterns.some((pattern) => pattern === file || (/[*?{[(]/.test(pattern) && matchesGlob(file, pattern)));
  return (configuration.test?.projects ?? []).some((project) => {
    const { include = [], exclude = [] } = (project as { test: { include?: string[]; exclude?: string[] } }).test;
    return matches(include) && !matches(exclude);
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

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { citationsIn, findCitations } from "./citations.ts";
import { countBySection, coverageProblems } from "./coverage.ts";
import { OBSERVABLES } from "./programs/observable-requirements.ts";
import { section } from "./requirement.ts";
import { REQUIREMENTS } from "./requirements.ts";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

describe("requirements and tests", () => {
  it("agree: no unknown, doubled, uncited or wrongly pending id", () => {
    expect(coverageProblems([...REQUIREMENTS, ...OBSERVABLES], findCitations(ROOT))).toEqual([]);
  });
});

describe("the rules bite", () => {
  const lines = section("spec §0", [
    "S0-kept: kept",
    "S0-later (pending: cli): later",
    "S0-open (open: S0-kept): not shown",
  ]);
  const cite = (id: string) => ({ id, file: "a.test.ts", line: 1 });

  it("passes when every built id is cited and nothing else is", () => {
    expect(coverageProblems(lines, [cite("S0-kept")])).toEqual([]);
  });

  it("names a built id that nobody cites", () => {
    expect(coverageProblems(lines, [])).toEqual(["S0-kept: built, but no test cites it (kept)"]);
  });

  it("names an unknown id", () => {
    expect(coverageProblems(lines, [cite("S0-kept"), cite("S0-typo")]).join()).toContain(
      "S0-typo: cited at a.test.ts:1",
    );
  });

  it("names a pending and an open id that a test cites", () => {
    const problems = coverageProblems(lines, [cite("S0-kept"), cite("S0-later"), cite("S0-open")]);
    expect(problems.map((text) => text.split(":")[0])).toEqual(["S0-later", "S0-open"]);
  });

  it("names a doubled id, a malformed id and a decision that does not exist", () => {
    const wrong = section("spec §0", [
      "S0-kept: again",
      "S0 blank (pending: cli): malformed",
      "S0-lost (open: D9-nowhere): not shown",
    ]);
    const problems = coverageProblems([...lines, ...wrong], [cite("S0-kept")]);
    expect(problems.map((text) => text.split(":")[0])).toEqual(["S0 blank", "S0-kept", "S0-lost"]);
  });

  it("stops at a line that is no requirement, and at an issue that nobody knows", () => {
    expect(() => section("spec §0", ["S0-silent"])).toThrow("S0-silent");
    expect(() => section("spec §0", ["S0-later (pending: never): later"])).toThrow("never");
  });

  it("counts each section and the whole", () => {
    expect(countBySection(lines)).toEqual([
      { source: "spec §0", built: 1, pending: 1, open: 1, total: 3 },
      { source: "all", built: 1, pending: 1, open: 1, total: 3 },
    ]);
  });
});

describe("citations", () => {
  const idsOf = (text: string) => citationsIn("a.test.ts", text).map(({ id }) => id);
  // Built from parts, so that the scan of this very file does not take the examples for citations.
  const bracket = (...ids: string[]) => `[${ids.join(" ")}]`;

  it("reads the titles of it, it.each and describe", () => {
    const a = `it("x ${bracket("S3-key-revoked")}", () => {});`;
    const b = `it.each([1])("y ${bracket("S2.4-name", "D1-dates")}", () => {});`;
    const c = `describe("z ${bracket("D5-list")}", () => {});`;
    expect(idsOf(a + b + c)).toEqual(["S3-key-revoked", "S2.4-name", "D1-dates", "D5-list"]);
  });

  it("reads the built observables of a journey, and not the pending ones", () => {
    const lines = [
      `"J9-now api: now ${bracket("S3-key-revoked")}"`,
      `"J9-later api (pending: cli): ${bracket("D5-list")}"`,
    ];
    expect(idsOf(`journey("J9", "Key revoked", [${lines.join()}]);`)).toEqual(["S3-key-revoked"]);
  });

  it("reads the names of a journey's checks, in its program alone", () => {
    const text = 'return { "J9-expired": async () => undefined };';
    expect(citationsIn("test/journeys/programs/j09.ts", text).map(({ id }) => id)).toEqual(["J9-expired"]);
    expect(idsOf(text)).toEqual([]);
  });

  it("ignores comments, variables, other calls and prose in brackets", () => {
    const id = bracket("S3-key-revoked");
    expect(idsOf(`// ${id}\nconst a = "${id}"; log("${id}"); it("stores on [S3 disks]", () => {});`)).toEqual([]);
  });
});

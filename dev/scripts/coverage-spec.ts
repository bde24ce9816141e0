/**
 * `npm run coverage:spec`: which lines of the specification and of the decisions, and which observables of the journeys,
 * are built, pending or left open.
 * `-- --verbose` adds where each built id is cited, and what each pending one waits for; `-- --ids` prints the built ids.
 * Exits 1 when requirements and tests disagree, with the reasons on stderr.
 */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { findCitations, type Citation } from "../../test/journeys/citations.ts";
import { countBySection, coverageProblems, type SectionCount } from "../../test/journeys/coverage.ts";
import { OBSERVABLES } from "../../test/journeys/programs/observable-requirements.ts";
import { REQUIREMENTS } from "../../test/journeys/requirements.ts";
import type { Requirement } from "../../test/journeys/requirement.ts";

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const { values: options } = parseArgs({
  options: { verbose: { type: "boolean", default: false }, ids: { type: "boolean", default: false } },
});

if (options.ids) printIds();
else printCoverage(findCitations(ROOT));

function printIds(): void {
  const lines = REQUIREMENTS.filter(({ status }) => status === "built").map(
    ({ id, text }) => `${id.padEnd(32)} ${text}`,
  );
  console.log(lines.join("\n"));
}

function printCoverage(citations: readonly Citation[]): void {
  console.log(countBySection(REQUIREMENTS).map(renderRow).join("\n"));
  console.log(`\n${countBySection(OBSERVABLES).map(renderRow).join("\n")}`);
  const everything = [...REQUIREMENTS, ...OBSERVABLES];
  if (options.verbose) console.log(everything.map((requirement) => renderDetail(requirement, citations)).join("\n"));
  const problems = coverageProblems(everything, citations);
  if (problems.length === 0) return;
  console.error(`\n${problems.length} disagreements between requirements and tests:\n${problems.join("\n")}`);
  process.exitCode = 1;
}

function renderRow({ source, built, pending, open, total }: SectionCount): string {
  const cell = (count: number, word: string): string => `${String(count).padStart(4)} ${word}`;
  return [
    source.padEnd(14),
    cell(built, "built"),
    cell(pending, "pending"),
    cell(open, "left open"),
    cell(total, "total"),
  ].join(" ");
}

function renderDetail(requirement: Requirement, citations: readonly Citation[]): string {
  const head = `\n${requirement.id} (${requirement.source}): ${requirement.text}`;
  if (requirement.status === "pending") return `${head}\n  pending: ${requirement.issue}`;
  if (requirement.status === "open") return `${head}\n  decided by: ${requirement.decidedBy.join(", ")}`;
  const places = citations.filter(({ id }) => id === requirement.id).map(({ file, line }) => `  ${file}:${line}`);
  return [head, ...(places.length === 0 ? ["  cited nowhere"] : places)].join("\n");
}

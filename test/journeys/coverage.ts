/** The rules that bind requirements and tests, as plain functions over plain data. */
import type { Citation } from "./citations.ts";
import { REQUIREMENT_ID, type Requirement } from "./requirement.ts";

/** Everything wrong between the requirements and the citations, one sentence each; empty when all is well. */
export function coverageProblems(requirements: readonly Requirement[], citations: readonly Citation[]): string[] {
  return [
    ...malformed(requirements),
    ...duplicates(requirements),
    ...wrongCitations(requirements, citations),
    ...uncited(requirements, citations),
    ...unsettled(requirements),
  ];
}

function malformed(requirements: readonly Requirement[]): string[] {
  return requirements.filter(({ id }) => !REQUIREMENT_ID.test(id)).map(({ id }) => `${id}: not a well-formed id`);
}

function duplicates(requirements: readonly Requirement[]): string[] {
  const seen = new Set<string>();
  const twice = requirements.filter(({ id }) => seen.size === seen.add(id).size);
  return twice.map(({ id }) => `${id}: stands twice in the requirements`);
}

function wrongCitations(requirements: readonly Requirement[], citations: readonly Citation[]): string[] {
  const byId = new Map(requirements.map((requirement) => [requirement.id, requirement]));
  return citations.flatMap(({ id, file, line }) => {
    const requirement = byId.get(id);
    if (requirement === undefined) return [`${id}: cited at ${file}:${line}, but no requirement has this id`];
    if (requirement.status === "built") return [];
    return [`${id}: cited at ${file}:${line}, but it is ${requirement.status}; mark it built if the test proves it`];
  });
}

function uncited(requirements: readonly Requirement[], citations: readonly Citation[]): string[] {
  const cited = new Set(citations.map(({ id }) => id));
  const bare = requirements.filter(({ id, status }) => status === "built" && !cited.has(id));
  return bare.map(({ id, text }) => `${id}: built, but no test cites it (${text})`);
}

function unsettled(requirements: readonly Requirement[]): string[] {
  const known = new Set(requirements.map(({ id }) => id));
  return requirements.flatMap((requirement) => {
    if (requirement.status !== "open") return [];
    const missing = requirement.decidedBy.filter((id) => !known.has(id));
    return missing.map((id) => `${requirement.id}: said to be decided by ${id}, which does not exist`);
  });
}

/** How a section stands. `open` lines say "not shown" and are settled by decisions. */
export interface SectionCount {
  readonly source: string;
  readonly built: number;
  readonly pending: number;
  readonly open: number;
  readonly total: number;
}

/** The counts by source, in the order in which the sources appear, and their sum last. */
export function countBySection(requirements: readonly Requirement[]): SectionCount[] {
  const sources = [...new Set(requirements.map(({ source }) => source))];
  const rows = sources.map((source) =>
    countOf(
      source,
      requirements.filter((line) => line.source === source),
    ),
  );
  return [...rows, countOf("all", requirements)];
}

function countOf(source: string, lines: readonly Requirement[]): SectionCount {
  const count = (status: Requirement["status"]): number => lines.filter((line) => line.status === status).length;
  return { source, built: count("built"), pending: count("pending"), open: count("open"), total: lines.length };
}

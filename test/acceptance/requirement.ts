/**
 * What a requirement is: one line of the specification or of the decisions, with a stable id that tests cite in their
 * titles (`it("revokes a key [S3-key-revoked]", …)`). Pure data; coverage.test.ts holds data and tests together.
 */

/** The later work that a pending requirement waits for. */
export type Issue =
  | "author"
  | "batch"
  | "budgets"
  | "change-list"
  | "cli"
  | "ladder"
  | "member-ends"
  | "search"
  | "short-ids"
  | "tools"
  | "versions"
  | "web-console";

/** Built now: at least one test must cite it. */
interface Built {
  readonly status: "built";
}

/** Not built yet: no test may cite it, or it is no longer pending. */
interface Pending {
  readonly status: "pending";
  readonly issue: Issue;
}

/** The specification says "not shown" here: the entries of the decisions that settle it. */
interface LeftOpen {
  readonly status: "open";
  readonly decidedBy: readonly string[];
}

interface Line {
  readonly id: string;
  readonly text: string;
}

export type RequirementLine = Line & (Built | Pending | LeftOpen);
/** `source` names document and section: "spec §2.4", "decisions §5". */
export type Requirement = RequirementLine & { readonly source: string };

/** What an id looks like: the document's letter and section, then words. */
export const REQUIREMENT_ID = /^[SDJ]\d+(?:\.\d+)?-[A-Za-z0-9]+(?:[.-][A-Za-z0-9]+)*$/;

export function built(id: string, text: string): RequirementLine {
  return { id, text, status: "built" };
}

export function pending(issue: Issue, id: string, text: string): RequirementLine {
  return { id, text, status: "pending", issue };
}

export function leftOpen(id: string, text: string, decidedBy: readonly string[]): RequirementLine {
  return { id, text, status: "open", decidedBy };
}

/** The lines of one section, in the document's order. */
export function section(source: string, lines: readonly RequirementLine[]): Requirement[] {
  return lines.map((line) => ({ ...line, source }));
}

/**
 * What a requirement is: one line of the specification or of the decisions, with a stable id that tests cite in their
 * titles (`it("revokes a key [S3-key-revoked]", …)`). Pure data; coverage.test.ts holds data and tests together.
 */

/** The later work that a pending requirement waits for. */
const ISSUES = ["cli", "rewind", "tools", "versions", "web-console"];

/** Built now: at least one test must cite it. */
interface Built {
  readonly status: "built";
}

/** Not built yet: no test may cite it, or it is no longer pending. */
export interface Pending {
  readonly status: "pending";
  readonly issue: string;
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

type RequirementLine = Line & (Built | Pending | LeftOpen);
/** `source` names document and section: "spec §2.4", "decisions §5". */
export type Requirement = RequirementLine & { readonly source: string };

/** What an id looks like: the document's letter and section, then words. */
export const REQUIREMENT_ID = /^[SDJ]\d+(?:\.\d+)?-[A-Za-z0-9]+(?:[.-][A-Za-z0-9]+)*$/;

/** `S1-webhooks: what it says`, `S0-app-url (pending: web-console): …`, or `S1-open-http (open: D5-one D5-two): …`. */
const LINE = /^([^:(]+?)(?: \((pending|open): ([^)]+)\))?: (.+)$/s;

/** The lines of one section, in the document's order. */
export function section(source: string, lines: readonly string[]): Requirement[] {
  return lines.map((line) => {
    const [, id = "", status, more = "", text = ""] = LINE.exec(line) ?? [];
    if (text === "") throw new Error(`${source}: not "<id>: <text>": ${line}`);
    if (status === "open") return { id, text, source, status, decidedBy: more.split(" ") };
    return { id, text, source, ...(status === "pending" ? pending(more) : { status: "built" }) };
  });
}

/** What waits for an issue that is one. */
export function pending(issue: string): Pending {
  if (!ISSUES.includes(issue)) throw new Error(`no issue is called ${issue}`);
  return { status: "pending", issue };
}

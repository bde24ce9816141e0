/** Reads the claims of a page of documentation, the table over them, and the tests that they name. */
import { readFileSync } from "node:fs";
import ts from "typescript";

/** A test by file and title, or an observable of a journey. */
export type NamedTest = { readonly file: string; readonly title: string } | { readonly observable: string };

export interface Claim {
  /** `S1`, by which the table and the index of tests refer to it; null for what has none, and so no test. */
  readonly id: string | null;
  readonly text: string;
  readonly tests: readonly NamedTest[];
}

export interface TableRow {
  /** The text of the first cell. */
  readonly party: string;
  /** For each other cell what it says and the claims that it names. */
  readonly cells: readonly { readonly text: string; readonly claims: readonly string[] }[];
}

/** By the id of each claim, the tests that show it: `file › title`, or an observable of a journey. */
export type ClaimTests = Readonly<Record<string, readonly string[]>>;

/** Of docs/threat-model.md. `npm run generate` writes the index that people read. */
export const CLAIM_TESTS = JSON.parse(readFileSync(new URL("claim-tests.json", import.meta.url), "utf8")) as ClaimTests;

const CLAIM_ID = /^([A-Z]\d+) (.*)$/s;

/** Every item and paragraph below the first heading of a section: nothing there but tables says something without naming a test. */
export function claimsIn(page: string, tests: ClaimTests): Claim[] {
  const sections = page.slice(Math.max(0, page.search(/^## /m)));
  return blocksOf(sections.split("\n").filter((line) => !/^#|^\|/.test(line))).map((block) => toClaim(block, tests));
}

/** A line that begins an item or follows an empty line begins a block. */
function blocksOf(lines: readonly string[]): string[] {
  const blocks: string[] = [];
  let open = false;
  for (const line of lines) {
    const isItem = line.startsWith("- ");
    if (line.trim() !== "" && open && !isItem) blocks.push(`${blocks.pop() ?? ""} ${line.trim()}`);
    else if (line.trim() !== "") blocks.push(line.replace(/^- /, "").trim());
    open = line.trim() !== "";
  }
  return blocks;
}

function toClaim(block: string, tests: ClaimTests): Claim {
  const [, id, text] = CLAIM_ID.exec(block) ?? [];
  if (id === undefined || text === undefined) return { id: null, text: block, tests: [] };
  return { id, text, tests: (tests[id] ?? []).map(toNamedTest) };
}

function toNamedTest(name: string): NamedTest {
  const [file = "", title] = name.split(/ › (.*)/s);
  return title === undefined ? { observable: file } : { file, title };
}

/** The index of tests by claim, as Markdown. */
export function renderClaimTests(tests: ClaimTests): string {
  const rows = Object.entries(tests).map(([id, names]) =>
    names.map((name, at) => `| ${at === 0 ? id : ""} | ${linkTo(name)} |`).join("\n"),
  );
  return [
    "# Tests of the threat model",
    "",
    "The tests that show each claim of [the threat model](../threat-model.md). A name such as `J7-ciphertext` is an",
    "observable of a journey: `npm run journey -- J7` shows it.",
    "",
    "| claim | shown by |",
    "| --- | --- |",
    ...rows,
    "",
  ].join("\n");
}

function linkTo(name: string): string {
  const named = toNamedTest(name);
  if ("observable" in named) return `\`${named.observable}\``;
  return `[${named.file}](../../${named.file}): ${named.title.replaceAll("|", "\\|")}`;
}

/** The rows below the head of every table; what is in the cells ends with the claims that it rests on: `no: S1, S2`. */
export function tableRowsIn(page: string): TableRow[] {
  const lines = page.split("\n").filter((line) => line.startsWith("|"));
  const rows = lines.filter((_, at) => at > 1).map((line) => line.split("|").slice(1, -1));
  return rows.map(([party = "", ...cells]) => ({
    party: party.trim(),
    cells: cells.map((cell) => {
      const at = cell.lastIndexOf(":");
      const claims = at < 0 ? "" : cell.slice(at);
      return { text: cell.slice(0, at < 0 ? undefined : at).trim(), claims: claims.match(/[A-Z]\d+/g) ?? [] };
    }),
  }));
}

/** Whether a title is a test's that runs without conditions, or one that something skips, in itself or around it. */
export type Standing = "runs" | "conditional";

/** The literal titles of `it` and `test`, also behind `.each(…)`; a group has no title here, since it proves nothing by itself. */
export function testsIn(text: string): Map<string, Standing> {
  const source = ts.createSourceFile("a.test.ts", text, ts.ScriptTarget.Latest, true);
  const found = new Map<string, Standing>();
  const visit = (node: ts.Node, standing: Standing): void => {
    const call = ts.isCallExpression(node) ? wordsOf(node.expression) : [];
    const inner = call.some((word) => CONDITIONS.has(word)) ? "conditional" : standing;
    const [title] = ts.isCallExpression(node) ? node.arguments : [];
    if (title !== undefined && ts.isStringLiteralLike(title) && (call[0] === "it" || call[0] === "test"))
      found.set(title.text, inner);
    ts.forEachChild(node, (child) => {
      visit(child, inner);
    });
  };
  visit(source, "runs");
  return found;
}

/** What makes vitest leave a test out, now or somewhere. */
const CONDITIONS: ReadonlySet<string> = new Set(["skip", "todo", "skipIf", "runIf", "fails"]);

/** `test.runIf(x).each(y)` is test, runIf, each; nothing that does not begin with a function of vitest. */
function wordsOf(callee: ts.Expression): string[] {
  if (ts.isIdentifier(callee)) return ["it", "test", "describe"].includes(callee.text) ? [callee.text] : [];
  if (ts.isCallExpression(callee)) return wordsOf(callee.expression);
  if (!ts.isPropertyAccessExpression(callee)) return [];
  const before = wordsOf(callee.expression);
  return before.length === 0 ? [] : [...before, callee.name.text];
}

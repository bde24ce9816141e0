/** Reads the claims of docs/threat-model.md, the table over them, and the titles of tests that cite them by id: `… [S1 S4]`. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

export interface Claim {
  /** `S1`, by which the table and the tests cite it; null if the text has none. */
  readonly id: string | null;
  readonly text: string;
}

export interface TableRow {
  /** The text of the first cell. */
  readonly party: string;
  /** For each other cell what it says and the claims that it names. */
  readonly cells: readonly { readonly text: string; readonly claims: readonly string[] }[];
}

/** A test that cites a claim. `runs` is false where something can skip it. */
export interface Citation {
  readonly id: string;
  readonly file: string;
  readonly title: string;
  readonly runs: boolean;
}

const CLAIM = /^([A-Z]\d+) (.*)$/s;
const CITED = /^[A-Z]\d+$/;
/** What makes vitest leave a test out, now or somewhere. */
const CONDITIONS: ReadonlySet<string> = new Set(["skip", "todo", "skipIf", "runIf", "fails"]);

/** Every item and paragraph below the first heading of a section. */
export function claimsIn(page: string): Claim[] {
  const sections = page.slice(Math.max(0, page.search(/^## /m)));
  return blocksOf(sections.split("\n").filter((line) => !/^#|^\|/.test(line))).map((block) => {
    const [, id = null, text = block] = CLAIM.exec(block) ?? [];
    return { id, text };
  });
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

/** The ids of claims in the brackets of a title. Ids of requirements (`[D5-versions]`) are not among them. */
export function claimIdsIn(title: string): string[] {
  const brackets = [...title.matchAll(/\[([^\]]*)\]/g)].map(([, inside = ""]) => inside);
  return brackets.flatMap((inside) => inside.split(/[\s,]+/)).filter((word) => CITED.test(word));
}

/** Every citation in the title of a test below `root`. */
export function findCitations(root: string): Citation[] {
  const files = globSync(
    ["packages/*/src/**/*.test.ts", "dev/*/src/**/*.test.ts", "server/src/**/*.test.ts", "test/**/*.test.ts"],
    {
      cwd: root,
      exclude: (name) => name === "node_modules" || name === "dist",
    },
  );
  return files.sort().flatMap((file) => citationsIn(file, readFileSync(join(root, file), "utf8")));
}

/**
 * The citations of one source text, which is parsed: an id in a comment or in the title of a group proves nothing, only the literal
 * title of `it` and `test`, also behind `.each(…)`, counts.
 */
export function citationsIn(file: string, text: string): Citation[] {
  if (!/\[[^\]]*\b[A-Z]\d+\b[^\]]*\]/.test(text)) return [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: Citation[] = [];
  const visit = (node: ts.Node, runsAround: boolean): void => {
    const call = ts.isCallExpression(node) ? wordsOf(node.expression) : [];
    const runs = runsAround && !call.some((word) => CONDITIONS.has(word));
    const [title] = ts.isCallExpression(node) ? node.arguments : [];
    if (title !== undefined && ts.isStringLiteralLike(title) && (call[0] === "it" || call[0] === "test"))
      for (const id of claimIdsIn(title.text)) found.push({ id, file, title: title.text, runs });
    ts.forEachChild(node, (child) => {
      visit(child, runs);
    });
  };
  visit(source, true);
  return found;
}

/** `test.runIf(x).each(y)` is test, runIf, each; nothing that does not begin with a function of vitest. */
function wordsOf(callee: ts.Expression): string[] {
  if (ts.isIdentifier(callee)) return ["it", "test", "describe"].includes(callee.text) ? [callee.text] : [];
  if (ts.isCallExpression(callee)) return wordsOf(callee.expression);
  if (!ts.isPropertyAccessExpression(callee)) return [];
  const before = wordsOf(callee.expression);
  return before.length === 0 ? [] : [...before, callee.name.text];
}

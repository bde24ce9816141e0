/** Reads the claims of a page of documentation, and the titles of the tests that it names for them. */
import ts from "typescript";

/** A test by file and title, or an observable of a journey. */
type NamedTest = { readonly file: string; readonly title: string } | { readonly observable: string };

export interface Claim {
  readonly text: string;
  readonly tests: readonly NamedTest[];
}

/** Sections whose items say what does not hold. */
const DISCLAIMING = /^## What is not /;
const NAMED_TEST = /`([^`]+\.test\.ts)` › "([^"]+)"|`(J\d+-[\w-]+)`/g;

/** Every item and paragraph below a second-level heading, but in sections of what is not. */
export function claimsIn(page: string): Claim[] {
  const sections = page.split(/^(?=## )/m).slice(1);
  const claiming = sections.filter((section) => !DISCLAIMING.test(section));
  return claiming.flatMap((section) => blocksOf(section.split("\n").slice(1)).map(toClaim));
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

function toClaim(block: string): Claim {
  const [text = "", named = ""] = block.split(/ Test: (.*)/s);
  const tests = [...named.matchAll(NAMED_TEST)].map(([, file, title, observable]): NamedTest =>
    file === undefined || title === undefined ? { observable: observable ?? "" } : { file, title },
  );
  return { text, tests };
}

/** The literal titles of `it`, `test` and `describe`, also behind `.each(…)`. */
export function titlesIn(text: string): Set<string> {
  const source = ts.createSourceFile("a.test.ts", text, ts.ScriptTarget.Latest, true);
  const found = new Set<string>();
  const visit = (node: ts.Node): void => {
    const [title] = ts.isCallExpression(node) ? node.arguments : [];
    if (ts.isCallExpression(node) && title !== undefined && isTest(node.expression) && ts.isStringLiteralLike(title))
      found.add(title.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function isTest(callee: ts.Expression): boolean {
  if (ts.isIdentifier(callee)) return ["it", "test", "describe"].includes(callee.text);
  if (ts.isPropertyAccessExpression(callee) || ts.isCallExpression(callee)) return isTest(callee.expression);
  return false;
}

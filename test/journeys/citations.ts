/**
 * Finds the requirement ids that tests cite in their titles. The files are parsed, not searched: an id in a comment or
 * in a variable proves nothing, only the title of `it`, `test` or `describe`, or a built observable of a `journey` counts.
 * An observable is itself cited by the check of that name in its journey's program.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/** One id in one title. `file` is relative to the repository's root, `line` counts from 1. */
export interface Citation {
  readonly id: string;
  readonly file: string;
  readonly line: number;
}

const TITLED_CALLS = new Set(["it", "test", "describe", "journey"]);
/** What looks like an id; anything else in brackets is prose. */
const CITED_ID = /^[SDJ]\d+(?:\.\d+)?-/;
const JOURNEY_PROGRAM = /\btest\/journeys\/programs\/((shared-)?j\d\d|commands(-[a-z]+)*)\.ts$/;
const SOURCES = ["packages/*/src/**/*.ts", "server/src/**/*.ts", "test/**/*.ts", "examples/**/*.ts", "dev/**/*.ts"];

/** Every citation under `root`, in order of file and line. */
export function findCitations(root: string): Citation[] {
  const files = globSync(SOURCES, { cwd: root, exclude: (name) => name === "node_modules" || name === "dist" });
  return files.sort().flatMap((file) => citationsIn(file, readFileSync(join(root, file), "utf8")));
}

/** The citations of one source text. */
export function citationsIn(file: string, text: string): Citation[] {
  const isProgram = JOURNEY_PROGRAM.test(file);
  if (!isProgram && !/\[\s*[SDJ]\d/.test(text)) return [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: Citation[] = [];
  const add = (id: string, node: ts.Node): void => {
    found.push({ id, file, line: source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1 });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && TITLED_CALLS.has(rootName(node.expression))) {
      for (const title of titlesOf(node)) for (const id of idsIn(title.getText(source))) add(id, title);
    }
    if (isProgram && ts.isPropertyAssignment(node) && ts.isStringLiteral(node.name) && CITED_ID.test(node.name.text)) {
      add(node.name.text, node);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** `it`, `it.each(rows)`, `test.for(rows)`: the name at the root of what is called. */
function rootName(callee: ts.Expression): string {
  if (ts.isIdentifier(callee)) return callee.text;
  if (ts.isPropertyAccessExpression(callee)) return rootName(callee.expression);
  if (ts.isCallExpression(callee) || ts.isTaggedTemplateExpression(callee)) {
    return rootName(ts.isCallExpression(callee) ? callee.expression : callee.tag);
  }
  return "";
}

/** The observables of a journey stand in a list; a pending one proves nothing yet. */
function titlesOf(call: ts.CallExpression): ts.Expression[] {
  const lists = rootName(call.expression) === "journey" ? call.arguments.filter(ts.isArrayLiteralExpression) : [];
  return [...call.arguments, ...lists.flatMap(({ elements }) => elements)].filter(
    (title) =>
      (ts.isStringLiteralLike(title) || ts.isTemplateExpression(title)) && !title.getText().includes(" (pending: "),
  );
}

function idsIn(title: string): string[] {
  const brackets = [...title.matchAll(/\[([^\]]*)\]/g)].map((match) => match[1] ?? "");
  return brackets.flatMap((inside) => inside.split(/[\s,]+/)).filter((word) => CITED_ID.test(word));
}

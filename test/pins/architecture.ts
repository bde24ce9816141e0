import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import path from "node:path";

/** What ARCHITECTURE.md says of the code and the code does not, one line each. */
export function findStale(text: string, root: string): string[] {
  return text
    .split(/^## /m)
    .slice(1)
    .flatMap((section) => staleIn(section, root));
}

/** The rows of "Where do I …?": what is wanted, and the code spans that say where to go. */
export function whereRows(text: string): Map<string, string[]> {
  const table = text.split(/^## Where do I/m)[1] ?? "";
  const rows = [...table.matchAll(/^\| (.+?) +\| (.+?) +\|$/gm)];
  return new Map(rows.map(([, want = "", go = ""]) => [want, spansOf(go)]));
}

function spansOf(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, span = ""]) => span);
}

/** A path may leave out what a path before it in the same section, or the same row of a table, began with. */
function staleIn(section: string, root: string): string[] {
  const title = section.slice(0, section.indexOf("\n"));
  const isWalk = /followed$|^Where do I/.test(title);
  let bases = ["", "server/src"];
  const stale: string[] = [];
  // A numbered step, a row of a table or a paragraph.
  for (const item of section.replaceAll(/```.*?```/gs, "").split(/\n(?=\d+\. |\| |\n)/)) {
    if (item.startsWith("| ")) bases = ["", "server/src"];
    const spans = spansOf(item);
    const files: string[] = [];
    for (const span of spans.filter(isPath).flatMap(alternatives)) {
      const found = resolveSpan(span, bases, root);
      if (found === null) stale.push(`${title}: there is no ${span}`);
      else {
        files.push(...found);
        bases.unshift(...ancestors(found[0] ?? ""));
      }
    }
    if (isWalk) stale.push(...unknownNames(spans, files, root).map((name) => `${title}: ${name}`));
  }
  return stale;
}

function isPath(span: string): boolean {
  return !span.includes(" ") && (span.includes("/") ? !span.startsWith("@") : /\.(ts|md|json|mjs)$/.test(span));
}

/** Each of `{a,b}` must be there; a glob is content with one of them. */
function alternatives(span: string): string[] {
  const [whole, choices] = /\{([^}]+)\}/.exec(span) ?? [];
  if (whole === undefined || choices === undefined) return [span];
  return choices.split(",").flatMap((choice) => alternatives(span.replace(whole, choice)));
}

function resolveSpan(span: string, bases: readonly string[], root: string): string[] | null {
  const pattern = span.replaceAll(/<[a-z-]+>/g, "*");
  for (const base of bases) {
    const found = globSync(path.posix.join(base, pattern), { cwd: root });
    if (found.length > 0) return found;
  }
  return null;
}

function ancestors(file: string): string[] {
  const folders = file.split("/").slice(0, -1);
  return folders.map((_, index) => folders.slice(0, folders.length - index).join("/"));
}

/** A name must be in the code of a file that its step or row names; a script in package.json. */
function unknownNames(spans: readonly string[], files: readonly string[], root: string): string[] {
  const code = files.map((file) => readCode(path.join(root, file))).join("\n");
  const { scripts } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as { scripts: object };
  return spans.flatMap((span) => {
    if (isPath(span)) return [];
    const script = /^npm run (\S+)/.exec(span)?.[1];
    if (script !== undefined) return script in scripts ? [] : [`package.json has no script ${script}`];
    return new RegExp(`(?<![\\w$])${span.replaceAll(/[^\w\s]/g, "\\$&")}(?![\\w$])`).test(code)
      ? []
      : [`${span} is in none of ${files.join(", ") || "the files of its step, which names none"}`];
  });
}

function readCode(file: string): string {
  if (!existsSync(file)) return "";
  const files = statSync(file).isDirectory()
    ? globSync("**/*.{ts,move,md}", { cwd: file }).map((name) => path.join(file, name))
    : [file];
  return files.map((name) => readFileSync(name, "utf8").replaceAll(/\/\*.*?\*\/|^\s*\/\/[^\n]*/gms, "")).join("\n");
}

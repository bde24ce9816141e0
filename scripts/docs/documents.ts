/** The pages that people read to work with Coffer, and what is in them to be checked. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";

export const ROOT = path.dirname(path.dirname(import.meta.dirname));

export const PAGES: readonly string[] = globSync(
  [
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "packages/*/README.md",
    "docs/*.md",
    "docs/guides/**/*.md",
    "deploy/README.md",
  ],
  { cwd: ROOT },
).toSorted();

export interface Block {
  /** `page:line`, for messages. */
  readonly place: string;
  readonly language: string;
  readonly code: string;
  /**
   * Why it is not run, from `<!-- not run: REASON -->` above it; null: it is run. With `<!-- not run: ``COMMAND``: REASON -->` (single backticks)
   * only the lines that begin with the command are left out.
   */
  readonly notRun: string | null;
  readonly linesNotRun: readonly { readonly line: string; readonly reason: string }[];
}

export function blocksOf(page: string, text = readFileSync(path.join(ROOT, page), "utf8")): Block[] {
  return [...text.matchAll(/^((?:<!-- not run: .+ -->\n+)*)```(\w*)\n([\s\S]*?)^```$/gm)].map((match) => {
    const [, marks = "", language = "", code = ""] = match;
    const place = `${page}:${String(text.slice(0, match.index).split("\n").length)}`;
    const reasons = [...marks.matchAll(/<!-- not run: (?:`([^`]+)`: )?(.+?) -->/g)];
    const whole = reasons.find(([, command]) => command === undefined)?.[2] ?? null;
    const parts = reasons.flatMap(([, command, reason = ""]) => (command === undefined ? [] : [{ command, reason }]));
    const lines = code.split("\n");
    for (const { command } of parts)
      if (!lines.some((line) => line.startsWith(command)))
        throw new Error(`${place}: marks "${command}", which is not in the block`);
    const linesNotRun = lines.flatMap((line) => {
      const reason = parts.find(({ command }) => line.startsWith(command))?.reason;
      return reason === undefined ? [] : [{ line, reason }];
    });
    return { place, language, code, notRun: whole, linesNotRun };
  });
}

/** Lines that begin or end a block which {@link blocksOf} does not see: indented, quoted, of other signs, or never ended. */
export function unseenFences(page: string, text = readFileSync(path.join(ROOT, page), "utf8")): string[] {
  // The marks go on, so that lines keep their numbers.
  const rest = text.replaceAll(/^```\w*\n[\s\S]*?^```$/gm, (block) => block.replaceAll(/[^\n]/g, ""));
  return rest
    .split("\n")
    .flatMap((line, at) =>
      /^[\s>*-]*(?:```|~~~)/.test(line)
        ? [
            `${page}:${String(at + 1)}: a block that is neither run nor marked: begin it at the margin with three back ticks and its language`,
          ]
        : [],
    );
}

/** Tests that a reason names, and that are not there. */
export function goneTests({ linesNotRun, notRun, place }: Block): string[] {
  const reasons = [notRun ?? "", ...linesNotRun.map(({ reason }) => reason)];
  const named = new Set(reasons.flatMap((reason) => reason.match(/[\w./-]+\.test\.ts/g) ?? []));
  return [...named]
    .filter((file) => globSync(`{test,packages,server}/**/${path.basename(file)}`, { cwd: ROOT }).length === 0)
    .map((file) => `${place}: the reason names ${file}, which is not there`);
}

/** What a page says wrongly about this repository: links that lead nowhere, commands that are not there. */
export function wrongReferences(page: string, scripts: readonly string[]): { problems: string[]; commands: number } {
  const text = readFileSync(path.join(ROOT, page), "utf8");
  const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, "");
  const links = [...prose.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].flatMap(([, to = ""]) => wrongLink(page, to));
  const commands = [...text.matchAll(/\bnpm (?:--?\w+ )*(?:run (?:--?\w+ )*(\w[\w:-]*)|(start|test)\b)/g)];
  const missing = commands.flatMap(([command, name = "start"]) =>
    scripts.includes(name) ? [] : [`${page}: there is no script for "${command}"`],
  );
  const files = [...text.matchAll(/npx vitest run ((?:[\w./-]+\/[\w./-]+ ?)+)/g)].flatMap(([, named = ""]) =>
    named.trim().split(" "),
  );
  const gone = files
    .filter((file) => globSync(file, { cwd: ROOT }).length === 0)
    .map((file) => `${page}: there is no ${file}`);
  return { problems: [...links, ...missing, ...gone], commands: commands.length + files.length };
}

function wrongLink(page: string, to: string): string[] {
  const [file = "", anchor] = to.split("#");
  const target = file === "" ? page : path.join(path.dirname(page), decodeURI(file));
  if (globSync(target, { cwd: ROOT }).length === 0) return [`${page}: the link ${to} leads nowhere`];
  if (anchor === undefined || !target.endsWith(".md")) return [];
  const anchors = [...readFileSync(path.join(ROOT, target), "utf8").matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
  return anchors.includes(anchor) ? [] : [`${page}: the link ${to} names no heading`];
}

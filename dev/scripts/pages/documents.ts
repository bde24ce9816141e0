/** The pages that people read to work with Coffer, and what is in them to be checked. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";

export const ROOT = path.resolve(import.meta.dirname, "../../..");

export const PAGES: readonly string[] = globSync(
  [
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "packages/*/README.md",
    "dev/*/README.md",
    "docs/*.md",
    "docs/guides/**/*.md",
    "deploy/README.md",
  ],
  { cwd: ROOT },
).toSorted();

/** Why a block may be left out. `longer than two minutes`: the nightly tests run it. */
export const REASONS = ["another system", "a person", "docker or a cluster", "longer than two minutes"] as const;

export interface NotRun {
  readonly reason: (typeof REASONS)[number];
  /** What the page adds to the reason. */
  readonly detail: string;
}

export interface Block {
  /** `page:line`, for messages. */
  readonly place: string;
  readonly language: string;
  readonly code: string;
  /** The headings that it stands under, from the page's own on. */
  readonly headings: readonly string[];
  /** Its page says above it that the line of `npm start` for other shells is pasted first: {@link SOURCED}. */
  readonly isSourced: boolean;
  /**
   * Why it is not run, from `<!-- not run: REASON: DETAIL -->` above it; null: it is run. With `<!-- not run: ``COMMAND``: REASON: DETAIL -->`
   * (single backticks) only the lines that begin with the command are left out.
   */
  readonly notRun: NotRun | null;
  readonly linesNotRun: readonly (NotRun & { readonly line: string })[];
}

/** From this mark on a page is read in a shell in which the line that `npm start` prints for other shells was pasted, as its text says. */
export const SOURCED = "<!-- sourced: the line of npm start -->";

const FENCED = /^((?:<!-- not run: .+ -->\n+)*)```(\w*)\n([\s\S]*?)^```$/gm;

export function blocksOf(page: string, text = readFileSync(path.join(ROOT, page), "utf8")): Block[] {
  return [...text.matchAll(FENCED)].map((match) => {
    const [, marks = "", language = "", code = ""] = match;
    const above = text.slice(0, match.index);
    const place = `${page}:${String(above.split("\n").length)}`;
    const notRun = [...marks.matchAll(/<!-- not run: (?:`([^`]+)`: )?(.+?) -->/g)].map(([, command, words = ""]) => ({
      command,
      ...reasonOf(place, words),
    }));
    const whole = notRun.find(({ command }) => command === undefined);
    const lines = code.split("\n");
    for (const { command = "" } of notRun)
      if (!lines.some((line) => line.startsWith(command)))
        throw new Error(`${place}: marks "${command}", which is not in the block`);
    const linesNotRun = lines.flatMap((line) => {
      const left = notRun.find(({ command }) => command !== undefined && line.startsWith(command));
      return left === undefined ? [] : [{ line, reason: left.reason, detail: left.detail }];
    });
    return {
      place,
      language,
      code,
      headings: headingsAt(above),
      isSourced: above.includes(SOURCED),
      notRun: whole === undefined ? null : { reason: whole.reason, detail: whole.detail },
      linesNotRun,
    };
  });
}

function reasonOf(place: string, words: string): NotRun {
  const reason = REASONS.find((each) => words === each || words.startsWith(`${each}: `));
  if (reason === undefined)
    throw new Error(`${place}: "${words}" begins with none of the reasons: ${REASONS.join(", ")}`);
  return { reason, detail: words.slice(reason.length + 2) };
}

/** The headings that what follows the text stands under. */
function headingsAt(text: string): string[] {
  const headings: string[] = [];
  for (const [, signs = "", title = ""] of text.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/^(#+) (.+)$/gm))
    headings.splice(signs.length - 1, headings.length, title);
  return headings;
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
  const reasons = [notRun?.detail ?? "", ...linesNotRun.map(({ detail }) => detail)];
  const named = new Set(reasons.flatMap((reason) => reason.match(/[\w./-]+\.test\.ts/g) ?? []));
  return [...named]
    .filter((file) => globSync(`{test,packages,server}/**/${path.basename(file)}`, { cwd: ROOT }).length === 0)
    .map((file) => `${place}: the reason names ${file}, which is not there`);
}

/** What a page says wrongly about this repository: links that lead nowhere, commands that are not there. */
export function wrongReferences(page: string, scripts: readonly string[]): string[] {
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
  return [...links, ...missing, ...gone];
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

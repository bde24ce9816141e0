/**
 * `@coffer/cli/printed-commands`: the commands of `coffer` in a text that people read, whether a program printed it or it stands in the
 * sources. The command line's own parser reads each, as it would after a paste.
 */
import { parseLine } from "./line-parser.ts";
import { COMMAND_NAMES } from "./invocation.ts";
import { findRoute } from "./find-route.ts";
import { ROUTES } from "./routes.ts";

export interface PrintedCommand {
  /** As it stands in the text, from the program on. A sentence that goes on after it is not part of it. */
  readonly line: string;
  /** What follows the program, as a shell splits it. */
  readonly words: readonly string[];
  /** The words of its name: `vaults members add`. */
  readonly path: readonly string[];
  /** A sentence names the command, or a group of them, and goes on ("coffer trash restore brings it back"): nothing to paste. */
  readonly isName: boolean;
  /** What the parser says against it; null: it takes it. */
  readonly problem: string | null;
  /** What stands before it in its line. */
  readonly before: string;
  /** What stands behind it. */
  readonly after: string;
}

/** The ways in which the program is started: `invocationOf` and `ofProfile` of packages/cli/src/invocation.ts. */
const QUOTED = String.raw`(?:'[^']*'|[^\s']+)`;
const PROGRAM = String.raw`(?:coffer|npm (?:--prefix ${QUOTED} )?run -s coffer --|node (?:'[^']*'|\S+\/coffer\.mjs))`;
const NAMES = `(?:--help|${COMMAND_NAMES.join("|")})(?![\\w-])`;
const COMMAND = new RegExp(`(?<![\\w./-])${PROGRAM} (?:--profile[ =]${QUOTED} )?(?=${NAMES})`, "g");
const WORD = /(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|\\.|[^\s"'\\`])+/y;
/** What a reader puts in: VAULT, VAULT:PATH. */
export const PLACEHOLDER = /^[A-Z]{2,}(?:[:,][A-Z]*)*$/;

/** All of them, in order. */
export async function printedCommands(text: string): Promise<PrintedCommand[]> {
  const lines = text
    .split("\n")
    .flatMap((line) =>
      [...line.matchAll(COMMAND)].map((match) => ({ line, from: match.index, start: match.index + match[0].length })),
    );
  return await Promise.all(lines.map(async ({ line, from, start }) => await commandAt(line, from, start)));
}

interface Word {
  readonly value: string;
  /** Where it ends in the line. */
  readonly end: number;
}

async function commandAt(line: string, from: number, start: number): Promise<PrintedCommand> {
  const words = wordsAt(line, start);
  const values = words.map(({ value }) => value);
  const { group, path } = await findRoute(ROUTES, values);
  const cut = (count: number) => {
    const end = words[count - 1]?.end ?? start;
    return {
      line: line.slice(from, end),
      words: values.slice(0, count),
      path,
      before: line.slice(0, from),
      after: line.slice(end),
    };
  };
  const problem = await problemOf(values);
  if (problem === null) return { ...cut(path.length === 0 ? 1 : words.length), isName: false, problem };
  // The sentence may go on: the longest beginning that the parser takes.
  for (let count = words.length - 1; count >= path.length; count -= 1)
    if (isProse(values[count] ?? "") && (await problemOf(values.slice(0, count))) === null)
      return { ...cut(count), isName: false, problem: null };
  const isGroup = group !== null && group.length === values.length;
  const isName = path.length > 0 && (isGroup || isProse(values[path.length] ?? ""));
  return isName ? { ...cut(path.length), isName, problem: null } : { ...cut(words.length), isName, problem };
}

/** Up to the sign that ends a clause, or a part of a shell's line that is not the program's. */
function wordsAt(line: string, start: number): Word[] {
  const words: Word[] = [];
  let at = start;
  for (;;) {
    WORD.lastIndex = at;
    const [raw] = WORD.exec(line) ?? [];
    if (raw === undefined || /^(?:[<>|([]|>>|&&)/.test(raw)) return words;
    const ended = /[),;.…]+$|(?<=^[a-z-]+):$/.exec(raw);
    const end = at + (ended === null || raw === "." ? raw.length : ended.index);
    if (end > at) words.push({ value: unquoted(line.slice(at, end)), end });
    if (end < at + raw.length || line[end] !== " ") return words;
    at = end + 1;
  }
}

const unquoted = (word: string): string =>
  word.replaceAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/g, (_, double?: string, single?: string, one?: string) =>
    double === undefined ? (single ?? one ?? "") : double.replaceAll(/\\(["\\$`])/g, "$1"),
  );

const isProse = (word: string): boolean => /^[a-z][a-z']*$/.test(word);

/** What the parser says against the words; a word that stands for what a reader puts in may be anything. */
async function problemOf(words: readonly string[]): Promise<string | null> {
  const reading = await parseLine(ROUTES, words);
  if (reading.kind !== "usage") return null;
  const others = reading.sentence.split("; ").filter((each) => {
    const { value, command } = /"(?<value>[^"]*)"|^There is no command (?<command>\S+)$/.exec(each)?.groups ?? {};
    return !PLACEHOLDER.test(value ?? command ?? "");
  });
  return others.length === 0 ? null : others.join("; ");
}

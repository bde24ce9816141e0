/** The lines of a text that arrives in pieces, and what a search among them shows. */
import { TaskFailure } from "@coffer/tasks";

export interface Line {
  /** From 1. */
  readonly number: number;
  /** Without its end. */
  readonly text: string;
  /** Of its first byte in the file. */
  readonly offset: number;
  /** With its end. */
  readonly bytes: number;
}

/** A longer one is no line that a person wrote; it would have to be held in memory. Characters. */
const LONGEST_LINE = 1_000_000;

/**
 * `isWhole`: false for bytes that end anywhere, whose last line is left out.
 * @throws TaskFailure `not_text` for what is not UTF-8, or has a NUL; `invalid_arguments` for a line that is too long.
 */
export async function* linesOf(
  stream: ReadableStream<Uint8Array>,
  isWhole = true,
): AsyncGenerator<Line, void, undefined> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let rest = "";
  let number = 1;
  let offset = 0;
  const lineOf = (text: string, end: number): Line => {
    const bytes = Buffer.byteLength(text) + end;
    const line = { number, text: text.replace(/\r$/, ""), offset, bytes };
    number += 1;
    offset += bytes;
    return line;
  };
  const take = function* (piece: string): Generator<Line, void, undefined> {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > LONGEST_LINE)
      throw new TaskFailure("invalid_arguments", {
        message: `Line ${String(number + lines.length)} has more than ${String(LONGEST_LINE)} characters; read the file by offset`,
      });
    for (const text of lines) yield lineOf(text, 1);
  };
  for await (const bytes of stream) yield* take(decode(decoder, bytes));
  if (!isWhole) return;
  yield* take(decode(decoder));
  if (rest !== "") yield lineOf(rest, 0);
}

function decode(decoder: TextDecoder, bytes?: Uint8Array): string {
  try {
    const text = bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
    if (!text.includes("\0")) return text;
  } catch {
    // It fails as bytes with a NUL do.
  }
  throw new TaskFailure("not_text");
}

export interface LineRange {
  readonly first: number;
  /** Included. Infinity: to the end. */
  readonly last: number;
}

/** `100-150`, `100-` or `100`. @throws TaskFailure `invalid_arguments`. */
export function parseLines(text: string): LineRange {
  const [, first = "", dash, last = ""] = /^\s*(\d{1,9})\s*(-)?\s*(\d{1,9})?\s*$/.exec(text) ?? [];
  const range = { first: Number(first), last: last !== "" ? Number(last) : dash === "-" ? Infinity : Number(first) };
  if (first === "" || range.first < 1 || range.last < range.first)
    throw new TaskFailure("invalid_arguments", {
      message: "lines is a range from 1 on such as 100-150, or 100- to the end",
    });
  return range;
}

/** Lines around each one that is found. */
const CONTEXT = 2;
/** Of one line that a search shows, around what was found. Characters. */
const SHOWN_OF_LINE = 500;

export interface Found {
  /** Lines that have the text. */
  readonly matches: number;
  /** As `grep -n` shows them: `12:` for one that has the text, `13-` for one beside it, `--` between groups. */
  readonly text: string;
  /** The line to go on at; null: all were looked at. */
  readonly nextLine: number | null;
}

/** Looks for a text in any case, in a range of lines. Stops before the lines that it shows are too many for `fits`. */
export async function findInLines(
  lines: AsyncIterable<Line>,
  { first, last }: LineRange,
  wanted: string,
  fits: (shown: string) => boolean,
): Promise<Found> {
  const folded = wanted.toLowerCase();
  let shown = "";
  let matches = 0;
  let before: Line[] = [];
  let lastShown = 0;
  let after = 0;
  for await (const line of lines) {
    if (line.number < first) continue;
    if (line.number > last) break;
    const isMatch = line.text.toLowerCase().includes(folded);
    if (!isMatch && after === 0) {
      before = [...before, line].slice(-CONTEXT);
      continue;
    }
    const group = isMatch ? [...before, line] : [line];
    const isApart = lastShown > 0 && (group[0]?.number ?? 0) > lastShown + 1;
    const more = group
      .map((each) => `${String(each.number)}${each === line && isMatch ? ":" : "-"} ${partOf(each.text, folded)}\n`)
      .join("");
    const next = `${shown}${isApart ? "--\n" : ""}${more}`;
    if (shown !== "" && !fits(next)) return { matches, text: shown, nextLine: line.number };
    shown = next;
    lastShown = line.number;
    matches += isMatch ? 1 : 0;
    after = isMatch ? CONTEXT : after - 1;
    before = [];
  }
  return { matches, text: shown, nextLine: null };
}

/** A long line is cut around what was found in it, or after its beginning. */
function partOf(text: string, folded: string): string {
  if (text.length <= SHOWN_OF_LINE) return text;
  const from = Math.max(0, text.toLowerCase().indexOf(folded) - SHOWN_OF_LINE / 2);
  const part = text.slice(from, from + SHOWN_OF_LINE).replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, "");
  return `${from > 0 ? "…" : ""}${part}${from + SHOWN_OF_LINE < text.length ? "…" : ""}`;
}

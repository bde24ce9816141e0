import { api } from "@coffer/contract";
import type { Download, File } from "@coffer/sdk";
import { findFile, TaskFailure, untrustedText } from "@coffer/tasks";
import * as z from "zod/mini";
import type { Call } from "../call.ts";
import type { Fact } from "../result.ts";
import { COUNT, TEXT } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { refuseReveal } from "./file-facts.ts";
import { itemRef, namedVault, vaultRef } from "./reference-input.ts";
import { findInLines, linesOf, parseLines, type Line, type LineRange } from "./text-lines.ts";

const DEFAULT_CHARS = 8_000;
/** Below what one answer may have, because some characters are shown as several. */
const MOST_CHARS = 30_000;
/** Characters of the page as it is shown: an answer has room for little more. */
const MOST_SHOWN = 38_000;
const MOST_BYTES_OF_CHARACTER = 4;
/** Lines are counted from the beginning of the file, as far as this many bytes. */
const MOST_COUNTED = 16 * 2 ** 20;
const EVERY_LINE: LineRange = { first: 1, last: Infinity };
/** A version that is replaced between two requests is read anew so often. */
const ATTEMPTS = 3;

export const fileRead = defineTool({
  name: "file_read",
  profile: "read",
  title: "Read a text file",
  description:
    "Reads a page of a text file, or lines of it, or finds words in it. While nextOffset or nextLines is there, call again with it as offset or lines. Shared vaults are refused unless the user allowed them.",
  endpoints: [api.files.get, api.files.content],
  input: {
    file: itemRef,
    vaultId: z.optional(vaultRef),
    offset: z.optional(z.int().check(z.gte(0))),
    lines: z.optional(z.string().check(z.maxLength(40))),
    find: z.optional(z.string().check(z.minLength(1), z.maxLength(300))),
    maxChars: z._default(z.int().check(z.gte(1), z.lte(MOST_CHARS)), DEFAULT_CHARS),
  },
  describe: {
    vaultId: "id or name, for paths; default: none",
    offset: "first byte; default: 0",
    lines: "like 100-150; default: a page",
    find: "text in any case, shown with lines around it; default: none",
    maxChars: "characters",
  },
  output: {
    fileId: TEXT,
    versionId: TEXT,
    bytes: COUNT,
    offset: COUNT,
    nextOffset: COUNT,
    firstLine: COUNT,
    lastLine: COUNT,
    matches: COUNT,
    nextLines: TEXT,
    text: TEXT,
  },
  run: async ({ file: fileText, vaultId, offset, lines, find, maxChars }, call) => {
    if (offset !== undefined && (lines ?? find) !== undefined)
      throw new TaskFailure("invalid_arguments", { message: "offset goes with neither lines nor find" });
    if (find?.includes("\n") === true)
      throw new TaskFailure("invalid_arguments", {
        message: "find is looked for within lines, so it has no line break",
      });
    const range = lines === undefined ? EVERY_LINE : parseLines(lines);
    const file = await findFile(call, await namedVault(call, vaultId), fileText);
    const { reading, current } = await readOneVersion(call, file, (current, open) => {
      if (find !== undefined) return findText(current, open, { range, find, maxChars });
      return lines === undefined
        ? readPage(current, open, { offset: offset ?? 0, maxChars })
        : readLines(current, open, { range, maxChars });
    });
    if (current.encrypted) call.recordClosedContent();
    const { summary, facts, text } = reading;
    return {
      summary,
      facts: {
        fileId: current.id,
        versionId: current.versionId,
        bytes: current.size,
        ...facts,
        text: untrustedText(text),
      },
    };
  },
});

interface Reading {
  readonly summary: string;
  readonly facts: Readonly<Record<string, Fact>>;
  readonly text: string;
}

/** Opens bytes of a file. */
type Open = (offset: number, length: number) => Promise<Download>;

/** Reads again where another version came between what was found and what was opened: both halves of an answer are of one version. */
async function readOneVersion(
  call: Call,
  file: File,
  read: (file: File, open: Open) => Promise<Reading>,
): Promise<{ readonly reading: Reading; readonly current: File }> {
  const client = await call.client();
  for (let current = file, attempt = 1; ; attempt += 1) {
    await refuseReveal(call, current);
    let isReplaced = false;
    const reading = await read(current, async (offset, length) => {
      const download = await client.files.download(current.id, {
        range: { offset, length },
        vaultId: current.vaultId,
        signal: call.signal,
      });
      // Both are of the whole file as it is stored. A public file's own tag is none of its content.
      isReplaced = download.sha256 !== current.sha256;
      return download;
    });
    if (!isReplaced) return { reading, current };
    if (attempt === ATTEMPTS)
      throw new TaskFailure("precondition_failed", { message: "The file changes again and again while it is read" });
    current = await client.files.get(current.id);
  }
}

async function readPage(
  file: File,
  open: Open,
  { offset, maxChars }: { readonly offset: number; readonly maxChars: number },
): Promise<Reading> {
  if (offset > file.size || (offset === file.size && file.size > 0))
    throw new TaskFailure("invalid_arguments", {
      message: `offset must be below the file's ${String(file.size)} bytes`,
    });
  if (file.size === 0) return { summary: "The file is empty.", facts: { offset: 0 }, text: "" };
  const length = Math.min(maxChars * MOST_BYTES_OF_CHARACTER, file.size - offset);
  const bytes = await (await open(offset, length)).bytes();
  const isEnd = offset + bytes.length >= file.size;
  const whole = isEnd ? bytes : bytes.subarray(0, wholeCharacters(bytes));
  const text = fitting(decode(whole, offset), maxChars);
  return pageOf(file, offset, text, Buffer.byteLength(text));
}

function pageOf(file: File, offset: number, text: string, bytes: number): Reading {
  const next = offset + bytes;
  const isLast = next >= file.size;
  return {
    summary: `Bytes ${String(offset)} to ${String(next)} of ${String(file.size)}${isLast ? ", the end" : ""}.`,
    facts: { offset, nextOffset: isLast ? null : next },
    text,
  };
}

/** Characters beyond the first plane are two code units, and are not cut apart. */
function fitting(text: string, maxChars: number): string {
  let cut = cutTo(text, maxChars);
  while (!fits(cut)) cut = cutTo(cut, Math.floor(cut.length * 0.7));
  return cut;
}

function fits(text: string): boolean {
  return JSON.stringify(untrustedText(text).visible()).length <= MOST_SHOWN;
}

/** The file's lines, as far as they are counted. */
async function openLines(file: File, open: Open): Promise<AsyncIterable<Line>> {
  if (file.size === 0) return linesOf(new Blob().stream());
  const { stream } = await open(0, Math.min(file.size, MOST_COUNTED));
  return linesOf(stream, file.size <= MOST_COUNTED);
}

async function readLines(
  file: File,
  open: Open,
  { range, maxChars }: { readonly range: LineRange; readonly maxChars: number },
): Promise<Reading> {
  let text = "";
  let offset = 0;
  let bytes = 0;
  let last = 0;
  for await (const line of await openLines(file, open)) {
    if (line.number < range.first) continue;
    if (line.number > range.last) break;
    const longer = `${text}${text === "" ? "" : "\n"}${line.text}`;
    if (last === 0) offset = line.offset;
    else if (longer.length > maxChars || !fits(longer)) break;
    text = longer;
    bytes += line.bytes;
    last = line.number;
  }
  if (last === 0) throw new TaskFailure("invalid_arguments", { message: noLine(file, range.first) });
  const page = fitting(text, maxChars);
  // A line that alone is longer than a page is cut, and the rest is read by offset.
  if (page.length < text.length) bytes = Buffer.byteLength(page);
  const reading = pageOf(file, offset, page, bytes);
  return {
    ...reading,
    summary: `Lines ${String(range.first)} to ${String(last)}. ${reading.summary}`,
    facts: { ...reading.facts, firstLine: range.first, lastLine: last },
  };
}

function noLine(file: File, first: number): string {
  return file.size > MOST_COUNTED
    ? `There is no line ${String(first)} in the first ${String(MOST_COUNTED / 2 ** 20)} MiB, which is how far lines are counted; read by offset`
    : `The file has fewer than ${String(first)} lines`;
}

async function findText(
  file: File,
  open: Open,
  { range, find, maxChars }: { readonly range: LineRange; readonly find: string; readonly maxChars: number },
): Promise<Reading> {
  const isShort = (shown: string): boolean => shown.length <= maxChars && fits(shown);
  const { matches, text, nextLine } = await findInLines(await openLines(file, open), range, find, isShort);
  const isWhole = nextLine === null && file.size <= MOST_COUNTED;
  const scope = isWhole ? "" : nextLine === null ? " in the first 16 MiB" : ` before line ${String(nextLine)}`;
  return {
    summary: `Found in ${String(matches)} ${matches === 1 ? "line" : "lines"}${scope}.`,
    facts: {
      matches,
      nextLines: nextLine === null ? null : `${String(nextLine)}-${range.last === Infinity ? "" : String(range.last)}`,
    },
    text: fitting(text, maxChars),
  };
}

function cutTo(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\uD800-\uDBFF]$/, "");
}

/** The bytes without the beginning of a character at their end. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0xc0) return back >= (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? bytes.length : bytes.length - back;
    if (byte < 0x80) return bytes.length;
  }
  return bytes.length;
}

function decode(bytes: Uint8Array, offset: number): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch {
    // It fails as bytes with a NUL do.
  }
  throw new TaskFailure("not_text", offset === 0 ? {} : { message: "No text begins at this offset" });
}

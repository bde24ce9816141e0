/**
 * Whether the service's files hold plaintext: a search of the files written since a moment, for needles that can be
 * nothing else.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { LocalFile } from "./folder-tree.ts";

export interface Needle {
  /** What it is a piece of, for people. */
  readonly of: string;
  readonly bytes: Buffer;
  /** Found only where the service keeps content: common words of a text may well be in a database. */
  readonly contentOnly: boolean;
}

export interface ScanReport {
  readonly files: number;
  readonly bytes: number;
  readonly needles: number;
  /** The places of needles; empty means none. */
  readonly found: readonly { readonly needle: string; readonly file: string }[];
}

export interface ScanOptions {
  readonly without: string;
  /** Everything in the directory is a database. */
  readonly isDatabase: boolean;
  readonly since: number;
  readonly needles: readonly Needle[];
}

/** What the process that searches reads from its standard input; it prints a {@link ScanReport}. */
export interface Search extends Omit<ScanOptions, "needles"> {
  readonly directory: string;
  readonly needles: readonly { readonly of: string; readonly contentOnly: boolean; readonly hex: string }[];
}

const WINDOW_BYTES = 32;
/** Windows from so many files; a look, not a proof: the suite scans everything. */
const MOST_WINDOWS = 16;

/** Pieces out of the middle of files, no two of the same file. Files without 32 bytes that differ are passed over. */
export async function windowsOf(files: readonly LocalFile[]): Promise<Needle[]> {
  const needles: Needle[] = [];
  const step = Math.max(1, Math.floor(files.length / MOST_WINDOWS));
  for (let index = 0; index < files.length && needles.length < MOST_WINDOWS; index += step) {
    const file = files[index];
    if (file === undefined || file.size < WINDOW_BYTES) continue;
    const bytes = await readAt(file.path, Math.floor((file.size - WINDOW_BYTES) / 2), WINDOW_BYTES);
    if (new Set(bytes).size >= 12) needles.push({ of: file.parts.join("/"), bytes, contentOnly: true });
  }
  return needles;
}

async function readAt(path: string, position: number, length: number): Promise<Buffer> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

const SEARCH = join(import.meta.dirname, "disk-search.ts");

/**
 * Looks into every file below `directory` but those in `without` that was written since `since`, in milliseconds since
 * 1970.
 *
 * Another process does it. A process that closes any descriptor of a file loses all its locks on it, and SQLite's are
 * such locks (sqlite.org/howtocorrupt.html §2.2). A read in the service's process would unlock its databases for the
 * rest of its life. The next command on them would delete the write-ahead log under it.
 */
export async function scanDisk(directory: string, options: ScanOptions): Promise<ScanReport> {
  const child = spawn(process.execPath, ["--conditions=coffer-source", SEARCH], { stdio: ["pipe", "pipe", "inherit"] });
  const needles = options.needles.map(({ of, bytes, contentOnly }) => ({
    of,
    contentOnly,
    hex: bytes.toString("hex"),
  }));
  const ended = once(child, "close");
  child.stdin.on("error", () => undefined).end(JSON.stringify({ ...options, directory, needles } satisfies Search));
  const answer = await text(child.stdout);
  const [code] = (await ended) as [number | null];
  if (code !== 0)
    throw new Error(`The search of ${directory} ended with ${code === null ? "a signal" : `code ${code}`}`);
  return JSON.parse(answer) as ScanReport;
}

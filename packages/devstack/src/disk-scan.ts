/** Whether plaintext stands in the files of the service: a look at what was written since a moment, for needles that can be nothing else. */
import { open, readdir, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import type { LocalFile } from "./folder-tree.ts";

export interface Needle {
  /** What it is a piece of, for people. */
  readonly of: string;
  readonly bytes: Buffer;
  /** Stands nowhere but where the service keeps content: common words of a text may well be in a database. */
  readonly contentOnly: boolean;
}

export interface ScanReport {
  readonly files: number;
  readonly bytes: number;
  readonly needles: number;
  /** Where a needle was found; empty is well. */
  readonly found: readonly { readonly needle: string; readonly file: string }[];
}

const WINDOW_BYTES = 32;
/** Windows from so many files; a look, not a proof: the suite scans everything. */
const MOST_WINDOWS = 16;
/** Bytes that are read at most. */
const MOST_BYTES = 512 * 1024 * 1024;
const PIECE_BYTES = 8 * 1024 * 1024;

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

/** Looks into every file below `directory` but those in `without` that was written since `since`, in milliseconds since 1970. */
export async function scanDisk(
  directory: string,
  options: { readonly without: string; readonly since: number; readonly needles: readonly Needle[] },
): Promise<ScanReport> {
  const found: { needle: string; file: string }[] = [];
  let [files, bytes] = [0, 0];
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || path.startsWith(options.without) || bytes > MOST_BYTES) continue;
    const facts = await stat(path).catch(() => null);
    if (facts === null || facts.mtimeMs < options.since) continue;
    const wanted = options.needles.filter(({ contentOnly }) => !contentOnly || !path.includes(".sqlite"));
    for (const needle of await needlesIn(path, wanted)) found.push({ needle, file: relative(directory, path) });
    files += 1;
    bytes += facts.size;
  }
  return { files, bytes, needles: options.needles.length, found };
}

async function needlesIn(path: string, needles: readonly Needle[]): Promise<string[]> {
  const found = new Set<string>();
  const file = await open(path).catch(() => null);
  // Temporary files come and go while the service works.
  if (file === null) return [];
  await using _closed = file;
  const longest = Math.max(...needles.map(({ bytes }) => bytes.length), 1);
  const piece = Buffer.alloc(PIECE_BYTES);
  for (let position = 0; ; position += PIECE_BYTES - longest) {
    const { bytesRead } = await file.read(piece, 0, PIECE_BYTES, position);
    const part = piece.subarray(0, bytesRead);
    for (const { of, bytes } of needles) if (part.includes(bytes)) found.add(of);
    if (bytesRead < PIECE_BYTES) return [...found];
  }
}

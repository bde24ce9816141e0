/** A program of its own for `scanDisk`: reads a {@link Search} from its standard input and prints what it found, both as JSON. */
import { open, readdir, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { json } from "node:stream/consumers";
import type { Needle, ScanReport, Search } from "./disk-scan.ts";

/** Bytes that are read at most. */
const MOST_BYTES = 512 * 1024 * 1024;
const PIECE_BYTES = 8 * 1024 * 1024;

process.stdout.write(JSON.stringify(await search((await json(process.stdin)) as Search)));

async function search({ directory, without, isDatabase, since, needles }: Search): Promise<ScanReport> {
  const all = needles.map(({ hex, ...needle }): Needle => ({ ...needle, bytes: Buffer.from(hex, "hex") }));
  const found: { needle: string; file: string }[] = [];
  let [files, bytes] = [0, 0];
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || path.startsWith(without) || bytes > MOST_BYTES) continue;
    const facts = await stat(path).catch(() => null);
    if (facts === null || facts.mtimeMs < since) continue;
    const wanted = all.filter(({ contentOnly }) => !contentOnly || !(isDatabase || path.includes(".sqlite")));
    for (const needle of await needlesIn(path, wanted)) found.push({ needle, file: relative(directory, path) });
    files += 1;
    bytes += facts.size;
  }
  return { files, bytes, needles: needles.length, found };
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

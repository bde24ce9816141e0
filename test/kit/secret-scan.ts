/**
 * Looks for secrets in files and logs, in every form that some layer could have written them in. One pass over the bytes,
 * however many secrets there are: a test server has seen thousands of keys when it ends.
 */
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { formsOf } from "./secret-forms.ts";

export interface Secret {
  /** What it is, such as "refreshToken". */
  readonly kind: string;
  readonly text: string;
}

/** Says what was found and where; never the secret. */
export interface Finding {
  readonly kind: string;
  readonly form: string;
  readonly place: string;
  readonly offset: number;
}

export interface Place {
  readonly name: string;
  readonly bytes: Uint8Array;
}

interface Needle {
  readonly kind: string;
  readonly form: string;
  readonly bytes: Buffer;
}

/** Every occurrence of any form of any secret. */
export function findSecrets(secrets: Iterable<Secret>, places: Iterable<Place>): Finding[] {
  const index = buildIndex(secrets);
  return [...places].flatMap(({ name, bytes }) => scan(index, name, bytes));
}

/** Rejects with what was found in these places. */
export function requireNoSecrets(secrets: Iterable<Secret>, places: Iterable<Place>): void {
  const findings = findSecrets(secrets, places);
  if (findings.length === 0) return;
  const lines = findings
    .slice(0, 20)
    .map(({ kind, form, place, offset }) => `${place} at ${offset}: ${kind} (${form})`);
  throw new Error(`${findings.length} secrets where none may be:\n${lines.join("\n")}`);
}

/** The files below `directory` whose path there `wanted` accepts. */
export async function readPlaces(directory: string, wanted: (path: string) => boolean): Promise<Place[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const names = paths.map((path) => relative(directory, path)).filter(wanted);
  const places = await Promise.all(names.map((name) => readPlace(directory, name)));
  return places.filter((place) => place !== null);
}

/** null: it has gone since the listing, as a write-ahead log does when its database is closed. */
async function readPlace(directory: string, name: string): Promise<Place | null> {
  try {
    return { name, bytes: await readFile(join(directory, name)) };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

/** A SQLite database with its write-ahead log. */
export function isDatabaseFile(path: string): boolean {
  return /\.sqlite(-wal|-journal|-shm)?$/.test(path);
}

const FILTER_BITS = 22;

interface Index {
  /** By the hash of their first four bytes. */
  readonly byStart: ReadonlyMap<number, readonly Needle[]>;
  /** Which hashes there are, for a look without a map. */
  readonly filter: Uint8Array;
}

function buildIndex(secrets: Iterable<Secret>): Index {
  const byStart = new Map<number, Needle[]>();
  const filter = new Uint8Array(1 << FILTER_BITS);
  for (const { kind, text } of secrets) {
    for (const { name, bytes } of formsOf(text)) {
      const start = bytes.readUInt32LE(0);
      const needles = byStart.get(start) ?? [];
      needles.push({ kind, form: name, bytes });
      byStart.set(start, needles);
      filter[slotOf(start)] = 1;
    }
  }
  return { byStart, filter };
}

/** Fibonacci hashing (Knuth, TAOCP 3 §6.4). */
function slotOf(start: number): number {
  return Math.imul(start, 0x9e3779b1) >>> (32 - FILTER_BITS);
}

function scan({ byStart, filter }: Index, place: string, given: Uint8Array): Finding[] {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  const findings: Finding[] = [];
  let window = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    window = (window >>> 8) | ((bytes[at] ?? 0) << 24);
    if (at < 3 || filter[slotOf(window)] === 0) continue;
    const offset = at - 3;
    for (const needle of byStart.get(window >>> 0) ?? []) {
      if (needle.bytes.compare(bytes, offset, Math.min(offset + needle.bytes.length, bytes.length)) !== 0) continue;
      findings.push({ kind: needle.kind, form: needle.form, place, offset });
    }
  }
  return findings;
}

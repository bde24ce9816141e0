/**
 * Looks for secrets in files and logs, in every form that some layer could have written them in. One pass over the bytes,
 * however many secrets there are: a test server has seen thousands of keys when it ends.
 */
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { formsOf, formsOfBytes } from "./secret-forms.ts";

export interface Secret {
  /** What it is, such as "refreshToken". */
  readonly kind: string;
  readonly text: string;
}

/** A secret that is no text: a key, a piece of a file. */
export interface SecretBytes {
  readonly kind: string;
  readonly bytes: Uint8Array;
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
  const { scan } = openScanner(secrets);
  return [...places].flatMap(({ name, bytes }) => scan(name, bytes));
}

/** For many places, or one that is read in pieces. */
export interface Scanner {
  /** Bytes of the longest form: pieces of one place overlap by one less. */
  readonly longest: number;
  /** How many forms it looks for. */
  readonly forms: number;
  readonly scan: (place: string, bytes: Uint8Array) => Finding[];
}

export function openScanner(secrets: Iterable<Secret | SecretBytes>): Scanner {
  const needles = [...secrets].flatMap((secret) => {
    const forms = "text" in secret ? formsOf(secret.text) : formsOfBytes(secret.bytes);
    return forms.map(({ name, bytes }): Needle => ({ kind: secret.kind, form: name, bytes }));
  });
  const index = buildIndex(needles);
  const longest = needles.reduce((most, { bytes }) => Math.max(most, bytes.length), 0);
  return { longest, forms: needles.length, scan: (place, bytes) => scan(index, place, bytes) };
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
/** The bytes are looked at in words of four: whatever stands among them has a word that begins in one of its first four bytes. */
const WORD = 4;

interface Index {
  /** By each of those words. */
  readonly byWord: ReadonlyMap<number, readonly (readonly [needle: Needle, before: number])[]>;
  /** Which hashes there are, for a look without a map. */
  readonly filter: Uint8Array;
}

function buildIndex(needles: readonly Needle[]): Index {
  const byWord = new Map<number, [Needle, number][]>();
  const filter = new Uint8Array(1 << FILTER_BITS);
  for (const needle of needles) {
    for (let before = 0; before < WORD; before += 1) {
      const word = needle.bytes.readInt32LE(before);
      const found = byWord.get(word);
      if (found === undefined) byWord.set(word, [[needle, before]]);
      else found.push([needle, before]);
      filter[slotOf(word)] = 1;
    }
  }
  return { byWord, filter };
}

/** Fibonacci hashing (Knuth, TAOCP 3 §6.4). */
function slotOf(word: number): number {
  return Math.imul(word, 0x9e3779b1) >>> (32 - FILTER_BITS);
}

function scan({ byWord, filter }: Index, place: string, given: Uint8Array): Finding[] {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  // Words of memory begin at multiples of four, wherever these bytes begin.
  const skipped = -given.byteOffset & (WORD - 1);
  const length = Math.max(0, Math.floor((bytes.length - skipped) / WORD));
  const words = length === 0 ? new Int32Array(0) : new Int32Array(bytes.buffer, bytes.byteOffset + skipped, length);
  const findings: Finding[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? 0;
    if (filter[slotOf(word)] === 0) continue;
    for (const [needle, before] of byWord.get(word) ?? []) {
      const offset = skipped + at * WORD - before;
      if (offset < 0 || offset + needle.bytes.length > bytes.length) continue;
      if (needle.bytes.compare(bytes, offset, offset + needle.bytes.length) !== 0) continue;
      findings.push({ kind: needle.kind, form: needle.form, place, offset });
    }
  }
  return findings;
}

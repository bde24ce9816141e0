/**
 * A file system that remembers what was flushed and what was not, after SQLite's crash tests (sqlite.org/testing.html
 * §3.3). Every change is kept in a log; {@link PowerLossFiles.afterCrash} gives a file system as the power could have
 * left it at any point of that log: what was flushed is there, of the rest any part may be missing or torn.
 */
import type { FileSystem, OpenFile } from "@coffer/server/drivers/blobs/disk/file-system";
import { dirname } from "node:path";

type Change =
  | { readonly kind: "write"; readonly file: number; readonly position: number; readonly bytes: Buffer }
  | { readonly kind: "truncate"; readonly file: number; readonly length: number }
  | { readonly kind: "flush"; readonly file: number }
  | { readonly kind: "name"; readonly path: string; readonly file: number | null }
  | { readonly kind: "flush names"; readonly directory: string };

/** A disk writes a sector whole or not at all. */
const SECTOR = 512;

export class PowerLossFiles implements FileSystem {
  readonly #log: Change[] = [];
  readonly #names: Map<string, number>;
  readonly #contents: Map<number, Buffer>;
  readonly #base: { readonly names: ReadonlyMap<string, number>; readonly contents: ReadonlyMap<number, Buffer> };
  #nextFile: number;

  constructor(names: ReadonlyMap<string, number> = new Map(), contents: ReadonlyMap<number, Buffer> = new Map()) {
    this.#base = { names, contents };
    this.#names = new Map(names);
    this.#contents = new Map(contents);
    this.#nextFile = Math.max(0, ...contents.keys()) + 1;
  }

  /** How many changes there have been: the points at which the power may fail. */
  get points(): number {
    return this.#log.length;
  }

  /** The medium when the power failed after the first `point` changes; `chance` answers numbers in [0, 1). */
  afterCrash(point: number, chance: () => number): PowerLossFiles {
    const changes = this.#log.slice(0, point);
    const contents = new Map<number, Buffer>();
    for (const file of new Set([...this.#base.contents.keys(), ...this.#contents.keys()])) {
      contents.set(file, survivingContent(this.#base.contents.get(file), changes, file, chance));
    }
    return new PowerLossFiles(survivingNames(this.#base.names, changes, chance), contents);
  }

  async create(path: string): Promise<OpenFile> {
    await turn();
    if (this.#names.has(path)) throw failure("EEXIST", path);
    const file = this.#nextFile++;
    this.#contents.set(file, Buffer.alloc(0));
    this.#name(path, file);
    return this.#opened(file);
  }

  async open(path: string): Promise<OpenFile> {
    await turn();
    const file = this.#names.get(path);
    if (file === undefined) throw failure("ENOENT", path);
    return this.#opened(file);
  }

  async link(from: string, to: string): Promise<void> {
    await turn();
    const file = this.#names.get(from);
    if (file === undefined) throw failure("ENOENT", from);
    if (this.#names.has(to)) throw failure("EEXIST", to);
    this.#name(to, file);
  }

  async remove(path: string): Promise<void> {
    await turn();
    if (this.#names.has(path)) this.#name(path, null);
  }

  async facts(path: string): Promise<{ size: number; modifiedAt: number } | null> {
    await turn();
    const file = this.#names.get(path);
    return file === undefined ? null : { size: this.#content(file).length, modifiedAt: 0 };
  }

  async list(directory: string): Promise<string[]> {
    await turn();
    return [...this.#names.keys()]
      .filter((path) => dirname(path) === directory)
      .map((path) => path.slice(directory.length + 1));
  }

  /** Directories are there from the beginning: the driver makes them when it opens, before it stores anything. */
  async makeDirectory(): Promise<void> {
    await turn();
  }

  async flushDirectory(directory: string): Promise<void> {
    await turn();
    this.#log.push({ kind: "flush names", directory });
  }

  #name(path: string, file: number | null): void {
    if (file === null) this.#names.delete(path);
    else this.#names.set(path, file);
    this.#log.push({ kind: "name", path, file });
  }

  #content(file: number): Buffer {
    return this.#contents.get(file) ?? Buffer.alloc(0);
  }

  #change(change: Change & { readonly file: number }): void {
    this.#contents.set(change.file, applied(this.#content(change.file), change));
    this.#log.push(change);
  }

  #opened(file: number): OpenFile {
    return {
      write: async (bytes, position) => {
        await turn();
        this.#change({ kind: "write", file, position, bytes: Buffer.from(bytes) });
      },
      read: async (into, position) => {
        await turn();
        return this.#content(file).copy(into, 0, position);
      },
      truncate: async (length) => {
        await turn();
        this.#change({ kind: "truncate", file, length });
      },
      flush: async () => {
        await turn();
        this.#log.push({ kind: "flush", file });
      },
      close: turn,
    };
  }
}

/** Content as of the last flush, and of each later change nothing, all, or (of a write) some sectors. */
function survivingContent(
  base: Buffer | undefined,
  changes: readonly Change[],
  file: number,
  chance: () => number,
): Buffer {
  const own = changes.filter((change) => "file" in change && change.kind !== "name" && change.file === file);
  const flushed = own.findLastIndex((change) => change.kind === "flush");
  let content = base ?? Buffer.alloc(0);
  for (const [index, change] of own.entries()) {
    if (index < flushed) content = applied(content, change);
    else if (chance() < 0.5) content = applied(content, chance() < 0.5 ? change : torn(change, chance));
  }
  return content;
}

/** Of each name, what it meant at the last flush of its directory or after any later change of it. */
function survivingNames(
  base: ReadonlyMap<string, number>,
  changes: readonly Change[],
  chance: () => number,
): Map<string, number> {
  const names = new Map(base);
  const paths = new Set([
    ...base.keys(),
    ...changes.flatMap((change) => (change.kind === "name" ? [change.path] : [])),
  ]);
  for (const path of paths) {
    let possible: (number | null)[] = [base.get(path) ?? null];
    for (const change of changes) {
      if (change.kind === "name" && change.path === path) possible.push(change.file);
      if (change.kind === "flush names" && change.directory === dirname(path)) possible = possible.slice(-1);
    }
    const file = possible[Math.floor(chance() * possible.length)] ?? null;
    if (file === null) names.delete(path);
    else names.set(path, file);
  }
  return names;
}

function applied(content: Buffer, change: Change): Buffer {
  if (change.kind === "truncate") {
    const cut = Buffer.alloc(change.length);
    content.copy(cut);
    return cut;
  }
  if (change.kind !== "write") return content;
  const grown = Buffer.alloc(Math.max(content.length, change.position + change.bytes.length));
  content.copy(grown);
  change.bytes.copy(grown, change.position);
  return grown;
}

/** A write of which only some sectors arrived, the others as zeros where the file had grown. */
function torn(change: Change, chance: () => number): Change {
  if (change.kind !== "write" || change.bytes.length <= SECTOR) return change;
  const bytes = Buffer.from(change.bytes);
  for (let start = 0; start < bytes.length; start += SECTOR)
    if (chance() < 0.5) bytes.fill(0, start, Math.min(start + SECTOR, bytes.length));
  return { ...change, bytes };
}

function failure(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}

/** Every step gives others a turn, as a real one does. */
function turn(): Promise<void> {
  return Promise.resolve();
}

/** One table of the profile store as a file: what was written is appended, and the place of each row's value is in memory. */
import { randomUUID } from "node:crypto";
import type { BigIntStats } from "node:fs";
import {
  closeSync,
  constants,
  existsSync,
  fdatasync,
  fstatSync,
  ftruncateSync,
  openSync,
  statSync,
  writeSync,
} from "node:fs";
import { open, rename, rm, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { promisify } from "node:util";
import { configurationError, lockedError, type SdkError } from "../../http/errors.ts";
import {
  requireKey,
  type RowChange,
  type RowChanges,
  type KeyRange,
  type RowPage,
  type Row,
  type Rows,
  type Table,
  type TableUpdate,
  type WriteOptions,
} from "../../store/profile-store.ts";
import { fileErrorCode, located, makePrivateDirectory, syncDirectory } from "./durable-file.ts";
import { acquireLock, type LockFile } from "./lock-file.ts";
import { encodeFrame, HEADER_BYTES, newHeader, readAt, readFrame, readHeader, rowBytes } from "./table-format.ts";

const LOCK_WAIT_MS = 10_000;
/** Bytes that no longer count, besides as many as do, before the file is rewritten. */
const SPARE_BYTES = 64 * 1024;
/** A rewrite makes frames of this size, and one answer about changes reads as much. */
const PIECE_BYTES = 1024 * 1024;
/** Values that lie closer together than this are read at once. */
const GAP_BYTES = 4 * 1024;
/** Other work of the process goes on while a large file is read. */
const BYTES_PER_TURN = 8 * 1024 * 1024;

/** Where the value of a row is in the file. */
interface ValueLocation {
  readonly at: number;
  readonly length: number;
}

export class FileTable implements Table {
  readonly #path: string;
  /** Rows in the order of writing. */
  #locations = new Map<string, ValueLocation>();
  /** Keys in their order; null: to be sorted again. */
  #ordered: readonly string[] | null = null;
  /** Of the file that was read; null: there was none. */
  #nonce: string | null = null;
  /** Another one whenever the file does not go on from what was read, such as an earlier copy that was put back. */
  #epoch: string = randomUUID();
  /** The end of the last whole frame that was read. */
  #end = 0;
  /** Bytes of the rows that count. */
  #counting = 0;
  /** The file as it was when it was read last. */
  #stats: BigIntStats | null = null;
  #reading: Promise<void> | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  async get(key: string): Promise<Uint8Array | null> {
    const values = await this.#read((descriptor) => this.#valuesOf(descriptor, [key]));
    return values.get(key) ?? null;
  }

  page({ prefix = "", after = null, limit }: KeyRange): Promise<RowPage> {
    return this.#read((descriptor) => {
      this.#ordered ??= [...this.#locations.keys()].sort();
      const first =
        after !== null && after >= prefix ? indexBehind(this.#ordered, after) : indexOf(this.#ordered, prefix);
      const keys = this.#ordered.slice(first, first + limit + 1).filter((key) => key.startsWith(prefix));
      const isMore = keys.length > limit;
      const values = this.#valuesOf(descriptor, isMore ? keys.slice(0, limit) : keys);
      const rows = [...values].map(([key, value]): Row => ({ key, value }));
      return { rows, next: isMore ? (rows.at(-1)?.key ?? null) : null };
    });
  }

  changes(since: string | null): Promise<RowChanges> {
    return this.#read((descriptor) => {
      const [epoch, end = "0"] = since?.split(" ") ?? [];
      const isAnew = epoch !== this.#epoch;
      const changes: RowChange[] = [];
      let at = isAnew ? HEADER_BYTES : Number(end);
      const start = at;
      while (descriptor !== null && at < this.#end && at - start < PIECE_BYTES) {
        const frame = readFrame(descriptor, at, this.#end);
        if (frame.kind !== "frame") throw this.#damaged(at);
        for (const { key, value } of frame.rows) changes.push({ key, value: value === null ? null : copy(value) });
        at = frame.end;
      }
      return { isAnew, changes, cursor: `${this.#epoch} ${String(at)}`, isMore: at < this.#end };
    });
  }

  async update<Result>(
    keys: readonly string[],
    decide: (rows: Rows) => TableUpdate<Result>,
    how: WriteOptions = {},
  ): Promise<Result> {
    if (!existsSync(dirname(this.#path))) await makePrivateDirectory(dirname(this.#path));
    await using lock = await this.#lock();
    const rows = await this.#read((descriptor) => this.#valuesOf(descriptor, keys));
    const { result, changes = [] } = decide(rows);
    for (const { key } of changes) requireKey(key);
    if (changes.length > 0) await this.#write(lock, changes, how);
    return result;
  }

  async write(changes: readonly RowChange[], how?: WriteOptions): Promise<void> {
    await this.update([], () => ({ result: undefined, changes }), how);
  }

  async clear(): Promise<void> {
    if (!existsSync(dirname(this.#path))) return;
    await using lock = await this.#lock();
    lock.requireHeld();
    await this.#remove();
  }

  /** Whether it has rows. */
  async hasRows(): Promise<boolean> {
    return this.#read(() => this.#locations.size > 0);
  }

  async #lock(): Promise<LockFile> {
    const lock = await acquireLock(`${this.#path}.lock`, LOCK_WAIT_MS);
    if (lock === null) throw lockedError(`Another process keeps ${this.#path} locked`);
    return lock;
  }

  /** What is resolved is in the file; `#read` puts it into memory. */
  async #write(lock: LockFile, changes: readonly RowChange[], how: WriteOptions): Promise<void> {
    lock.requireHeld();
    const frame = encodeFrame(changes);
    const isAnew = this.#nonce === null || this.#isMostlyVoid(frame.length) || this.#endsEmpty(changes);
    if (how.erase === true || isAnew) await this.#rewrite(changes, how.erase === true);
    else await this.#append(frame, how.durability ?? "strict");
  }

  #isMostlyVoid(added: number): boolean {
    return this.#end + added > 2 * (this.#counting + added) + SPARE_BYTES;
  }

  #endsEmpty(changes: readonly RowChange[]): boolean {
    if (changes.length < this.#locations.size) return false;
    const last = new Map(changes.map(({ key, value }) => [key, value]));
    return (
      [...last.values()].every((value) => value === null) && [...this.#locations.keys()].every((key) => last.has(key))
    );
  }

  async #append(frame: Buffer, durability: "strict" | "relaxed"): Promise<void> {
    // Without `O_CREAT`: a file without a header is none.
    const descriptor = openSync(this.#path, constants.O_WRONLY | constants.O_APPEND);
    try {
      // A frame that a crash cut off: nothing may follow it.
      if (fstatSync(descriptor).size > this.#end) ftruncateSync(descriptor, this.#end);
      writeFully(descriptor, frame);
      if (durability === "strict") await flush(descriptor);
    } catch (error) {
      // The next write would do the same.
      ftruncateSync(descriptor, this.#end);
      throw located(error, this.#path);
    } finally {
      closeSync(descriptor);
    }
  }

  /** Puts the rows that count, with the changes, into a new file, in the order of writing. */
  async #rewrite(changes: readonly RowChange[], isErased: boolean): Promise<void> {
    const last = new Map(changes.map((change) => [change.key, change]));
    const kept = [...this.#locations.keys()].filter((key) => !last.has(key));
    if (kept.length === 0 && changes.every(({ value }) => value === null)) {
      await this.#remove();
      return;
    }
    const draft = `${this.#path}.new`;
    const former = isErased ? await openToErase(this.#path) : null;
    try {
      await rm(draft, { force: true });
      const file = await open(draft, "wx", 0o600);
      try {
        await file.writeFile(newHeader());
        for (const keys of this.#piecesOf(kept)) {
          const values = await this.#read((descriptor) => this.#valuesOf(descriptor, keys));
          await file.writeFile(encodeFrame([...values].map(([key, value]) => ({ key, value }))));
        }
        const added = [...last.values()].filter(({ value }) => value !== null);
        if (added.length > 0) await file.writeFile(encodeFrame(added));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(draft, this.#path);
      await syncDirectory(dirname(this.#path));
      if (former !== null) await eraseContent(former);
    } catch (error) {
      await rm(draft, { force: true });
      throw located(error, this.#path);
    } finally {
      await former?.close();
    }
  }

  *#piecesOf(keys: readonly string[]): Generator<readonly string[], void, undefined> {
    let piece: string[] = [];
    let bytes = 0;
    for (const key of keys) {
      piece.push(key);
      bytes += this.#locations.get(key)?.length ?? 0;
      if (bytes < PIECE_BYTES && piece.length < 10_000) continue;
      yield piece;
      piece = [];
      bytes = 0;
    }
    if (piece.length > 0) yield piece;
  }

  async #remove(): Promise<void> {
    const former = await openToErase(this.#path);
    try {
      await rm(`${this.#path}.new`, { force: true });
      await rm(this.#path, { force: true });
      await syncDirectory(dirname(this.#path));
      if (former !== null) await eraseContent(former);
    } finally {
      await former?.close();
    }
  }

  /** Runs `work` on the file whose rows are in memory, as they are now. Its descriptor is null where there is none. */
  async #read<Result>(work: (descriptor: number | null) => Result): Promise<Result> {
    for (;;) {
      await this.#refresh();
      // Somebody else has begun to read more: what is in memory is not whole.
      if (this.#reading !== null) continue;
      if (this.#stats === null) return work(null);
      const descriptor = openIfThere(this.#path);
      try {
        const nonce = descriptor === null ? null : this.#nonceOf(descriptor);
        // Another process has just replaced it.
        if (nonce === this.#nonce) return work(descriptor);
      } finally {
        if (descriptor !== null) closeSync(descriptor);
      }
    }
  }

  /** One reading at a time. What a reading began before does not count for a caller who comes later. */
  async #refresh(): Promise<void> {
    while (this.#reading !== null) await this.#reading;
    const stats = statSync(this.#path, { bigint: true, throwIfNoEntry: false }) ?? null;
    if (isSameFile(stats, this.#stats)) return;
    this.#reading = this.#load().finally(() => (this.#reading = null));
    await this.#reading;
  }

  async #load(): Promise<void> {
    const descriptor = openIfThere(this.#path);
    if (descriptor === null) {
      this.#reset(null);
      return;
    }
    try {
      const stats = fstatSync(descriptor, { bigint: true });
      const nonce = this.#nonceOf(descriptor);
      const size = Number(stats.size);
      // Frames are only added: a change without more bytes is somebody's, such as an earlier copy that was put back.
      const isTouched = this.#stats !== null && (stats.ino !== this.#stats.ino || size <= this.#end);
      if (nonce !== this.#nonce || isTouched) this.#reset(nonce);
      let isWhole = this.#end === HEADER_BYTES;
      for (let read = 0; ;) {
        const frame = readFrame(descriptor, this.#end, size);
        if (frame.kind === "damaged") {
          if (isWhole) throw this.#damaged(this.#end);
          // Perhaps it does not go on from what was read before: look at all of it.
          this.#reset(nonce);
          isWhole = true;
          continue;
        }
        if (frame.kind === "end") break;
        for (const { key, value, at } of frame.rows)
          this.#setLocation(key, value === null ? null : { at, length: value.length });
        read += frame.end - this.#end;
        this.#end = frame.end;
        if (read < BYTES_PER_TURN) continue;
        read = 0;
        await turn();
      }
      this.#stats = stats;
    } catch (error) {
      this.#reset(null);
      throw error;
    } finally {
      closeSync(descriptor);
    }
  }

  #reset(nonce: string | null): void {
    this.#locations = new Map();
    this.#ordered = null;
    this.#nonce = nonce;
    this.#epoch = randomUUID();
    this.#end = nonce === null ? 0 : HEADER_BYTES;
    this.#counting = 0;
    this.#stats = null;
  }

  #setLocation(key: string, location: ValueLocation | null): void {
    const before = this.#locations.get(key);
    if (before !== undefined) {
      this.#counting -= rowBytes(key, before.length);
      this.#locations.delete(key);
    }
    if (location !== null) {
      this.#counting += rowBytes(key, location.length);
      this.#locations.set(key, location);
    }
    if ((before === undefined) !== (location === null)) this.#ordered = null;
  }

  /** In the order of `keys`, without those that are not there. Those that lie together are read together. */
  #valuesOf(descriptor: number | null, keys: readonly string[]): Map<string, Uint8Array> {
    const values = new Map<string, Uint8Array>();
    if (descriptor === null) return values;
    const found = keys.flatMap((key) => {
      const location = this.#locations.get(key);
      return location === undefined ? [] : [{ key, ...location }];
    });
    // In the order of the keys, before the values are there.
    for (const { key } of found) values.set(key, EMPTY);
    found.sort((one, other) => one.at - other.at);
    for (let first = 0; first < found.length;) {
      const start = found[first]?.at ?? 0;
      let [next, end] = [first, start];
      for (; next < found.length; next += 1) {
        const { at = 0, length = 0 } = found[next] ?? {};
        if (at - end > GAP_BYTES || at - start > PIECE_BYTES) break;
        end = at + length;
      }
      const bytes = readAt(descriptor, start, end - start);
      for (const { key, at, length } of found.slice(first, next))
        values.set(key, copy(bytes.subarray(at - start, at - start + length)));
      first = next;
    }
    return values;
  }

  #nonceOf(descriptor: number): string {
    const header = readHeader(descriptor);
    if (header.kind === "header") return header.nonce;
    if (header.kind === "later version")
      throw configurationError(`${this.#path} was written by a later version: update this client`);
    throw this.#damaged(0);
  }

  #damaged(at: number): SdkError {
    return configurationError(
      `${this.#path} is damaged at byte ${String(at)}. Put a copy of it back, or delete it: then what this machine kept there is forgotten`,
    );
  }
}

const EMPTY = new Uint8Array(0);

function copy(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

/** The first index whose key is not before `key`. */
function indexOf(keys: readonly string[], key: string): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? "") < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function indexBehind(keys: readonly string[], key: string): number {
  const index = indexOf(keys, key);
  return keys[index] === key ? index + 1 : index;
}

/** A file that grew, or was replaced, differs: nothing else ever changes one. */
function isSameFile(one: BigIntStats | null, other: BigIntStats | null): boolean {
  if (one === null || other === null) return one === other;
  return one.ino === other.ino && one.size === other.size && one.ctimeNs === other.ctimeNs;
}

function openIfThere(path: string): number | null {
  try {
    return openSync(path, "r");
  } catch (error) {
    if (fileErrorCode(error) === "ENOENT") return null;
    throw error;
  }
}

async function openToErase(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, "r+");
  } catch (error) {
    if (fileErrorCode(error) === "ENOENT") return null;
    throw error;
  }
}

const flush = promisify(fdatasync);

function writeFully(descriptor: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length;) written += writeSync(descriptor, bytes, written);
}

/** Of a file that has no name any more: a crash in the middle damages nothing. */
async function eraseContent(file: FileHandle): Promise<void> {
  const { size } = await file.stat();
  const zeros = Buffer.alloc(Math.min(size, PIECE_BYTES));
  for (let at = 0; at < size; at += zeros.length) await file.write(zeros, 0, Math.min(zeros.length, size - at), at);
  await file.datasync();
}

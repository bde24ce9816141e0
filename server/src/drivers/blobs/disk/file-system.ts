/**
 * What the disk driver needs of a file system. A test double drops what was not flushed (test/kit). So tests prove
 * durability against a model of power loss, and not against a page cache that never loses anything.
 */
import * as fs from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { LARGE } from "./buffers.ts";

export interface OpenFile {
  /** Writes all of `bytes` at `position`. */
  write(bytes: Uint8Array, position: number): Promise<void>;
  /** Reads up to `into.length` bytes; fewer only at the end of the file. */
  read(into: Uint8Array, position: number): Promise<number>;
  truncate(length: number): Promise<void>;
  /** Resolves when content and length are on the medium (fsync). */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface FileFacts {
  readonly size: number;
  /** Milliseconds since the Unix epoch. */
  readonly modifiedAt: number;
}

/** "direct …": the same, but large blocks go past the cache of the system where they can. Nobody finds them in memory afterwards. */
export type Access = "read" | "write" | "direct read" | "direct write";

/** Errors are Node's: `code` is ENOENT, EEXIST, ENOSPC, EIO, … */
export interface FileSystem {
  /** A new empty file for writing; EEXIST when there is one. Its name is durable after `flushDirectory`. */
  create(path: string): Promise<OpenFile>;
  open(path: string, access: Access): Promise<OpenFile>;
  /** A second name for a file; EEXIST when the name is taken: unlike rename it never replaces anything. */
  link(from: string, to: string): Promise<void>;
  /** No error when there is nothing. */
  remove(path: string): Promise<void>;
  /** null when there is nothing. */
  facts(path: string): Promise<FileFacts | null>;
  list(directory: string): Promise<string[]>;
  makeDirectory(path: string): Promise<void>;
  /** Resolves when the names in a directory are on the medium. */
  flushDirectory(path: string): Promise<void>;
}

/** What direct writes begin and end at, in bytes: no medium has larger sectors. */
const SECTOR = 4096;

/** 0600: the bytes are one account's alone. */
const FILE_MODE = 0o600;

/** The callback API: `fs/promises` costs an object per file and per call on paths that every request takes. */
export const diskFileSystem: FileSystem = {
  create: async (path) =>
    new Descriptor(await openDescriptor(path, fs.constants.O_WRONLY | fs.constants.O_CREAT | fs.constants.O_EXCL)),
  open: async (path, access) => {
    const flags = access.endsWith("read") ? fs.constants.O_RDONLY : fs.constants.O_WRONLY;
    const descriptor = await openDescriptor(path, flags);
    return access.startsWith("direct") ? new DirectDescriptor(descriptor, flags) : new Descriptor(descriptor);
  },
  link: (from, to) => promised((done) => fs.link(from, to, done)),
  async remove(path) {
    try {
      await promised((done) => fs.unlink(path, done));
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
    }
  },
  async facts(path) {
    try {
      const facts = await promised<fs.Stats>((done) => fs.stat(path, done));
      return { size: facts.size, modifiedAt: Math.floor(facts.mtimeMs) };
    } catch (error) {
      if (errorCode(error) === "ENOENT") return null;
      throw error;
    }
  },
  list: (directory) => readdir(directory),
  async makeDirectory(path) {
    await mkdir(path, { recursive: true, mode: 0o700 });
  },
  async flushDirectory(path) {
    const directory = new Descriptor(await openDescriptor(path, fs.constants.O_RDONLY));
    try {
      await directory.flush();
    } finally {
      await directory.close();
    }
  },
};

/** Node's error code, null for anything else. */
export function errorCode(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}

class Descriptor implements OpenFile {
  readonly #descriptor: number;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  async write(bytes: Uint8Array, position: number): Promise<void> {
    let done = 0;
    while (done < bytes.length) {
      done += await promised<number>((answer) =>
        fs.write(this.#descriptor, bytes, done, bytes.length - done, position + done, answer),
      );
    }
  }

  async read(into: Uint8Array, position: number): Promise<number> {
    let done = 0;
    while (done < into.length) {
      const count = await promised<number>((answer) =>
        fs.read(this.#descriptor, into, done, into.length - done, position + done, answer),
      );
      if (count === 0) break;
      done += count;
    }
    return done;
  }

  truncate(length: number): Promise<void> {
    return promised((done) => fs.ftruncate(this.#descriptor, length, done));
  }

  flush(): Promise<void> {
    return promised((done) => fs.fsync(this.#descriptor, done));
  }

  close(): Promise<void> {
    return promised((done) => fs.close(this.#descriptor, done));
  }
}

/** Moves large blocks without a copy in the cache (`O_DIRECT`): the system has less work, and a flush little to wait for. */
class DirectDescriptor extends Descriptor {
  readonly #descriptor: number;
  readonly #flags: number;
  /** The same file. null: this system or file system cannot. undefined: not tried yet. */
  #direct: Descriptor | null | undefined = process.platform === "linux" ? undefined : null;

  constructor(descriptor: number, flags: number) {
    super(descriptor);
    this.#descriptor = descriptor;
    this.#flags = flags;
  }

  override write(bytes: Uint8Array, position: number): Promise<void> {
    return this.#move(
      bytes,
      position,
      (file) => file.write(bytes, position),
      () => super.write(bytes, position),
    );
  }

  override read(into: Uint8Array, position: number): Promise<number> {
    return this.#move(
      into,
      position,
      (file) => file.read(into, position),
      () => super.read(into, position),
    );
  }

  override async close(): Promise<void> {
    await this.#giveUp();
    await super.close();
  }

  async #move<Result>(
    { length }: Uint8Array,
    position: number,
    directly: (file: Descriptor) => Promise<Result>,
    otherwise: () => Promise<Result>,
  ): Promise<Result> {
    if (length < LARGE || length % SECTOR !== 0 || position % SECTOR !== 0) return otherwise();
    if (this.#direct === undefined) this.#direct = await openDirect(this.#descriptor, this.#flags);
    if (this.#direct === null) return otherwise();
    try {
      return await directly(this.#direct);
    } catch (error) {
      if (errorCode(error) !== "EINVAL") throw error;
      // Some file systems refuse only the move.
      await this.#giveUp();
      return otherwise();
    }
  }

  async #giveUp(): Promise<void> {
    const direct = this.#direct;
    this.#direct = null;
    await direct?.close();
  }
}

/** Opens the open file once more: whatever its name means by now. */
async function openDirect(descriptor: number, flags: number): Promise<Descriptor | null> {
  try {
    return new Descriptor(await openDescriptor(`/proc/self/fd/${descriptor}`, flags | fs.constants.O_DIRECT));
  } catch {
    return null;
  }
}

function openDescriptor(path: string, flags: number): Promise<number> {
  return promised((done) => fs.open(path, flags, FILE_MODE, done));
}

function promised<Result = void>(
  start: (done: (error: Error | null | undefined, result?: Result) => void) => void,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    start((error, result) => {
      if (error) reject(error);
      else resolve(result as Result);
    });
  });
}

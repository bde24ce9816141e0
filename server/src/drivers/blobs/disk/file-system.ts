/**
 * What the disk driver needs of a file system. A test double drops what was not flushed (test/kit). So tests prove
 * durability against a model of power loss, and not against a page cache that never loses anything.
 */
import * as fs from "node:fs";
import { mkdir, readdir } from "node:fs/promises";

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

/** Errors are Node's: `code` is ENOENT, EEXIST, ENOSPC, EIO, … */
export interface FileSystem {
  /** A new empty file for writing; EEXIST when there is one. Its name is durable after `flushDirectory`. */
  create(path: string): Promise<OpenFile>;
  open(path: string, access: "read" | "write"): Promise<OpenFile>;
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

/** 0600: the bytes are one account's alone. */
const FILE_MODE = 0o600;

/** The callback API: `fs/promises` costs an object per file and per call on paths that every request takes. */
export const diskFileSystem: FileSystem = {
  create: async (path) =>
    new Descriptor(await openDescriptor(path, fs.constants.O_WRONLY | fs.constants.O_CREAT | fs.constants.O_EXCL)),
  open: async (path, access) =>
    new Descriptor(await openDescriptor(path, access === "read" ? fs.constants.O_RDONLY : fs.constants.O_WRONLY)),
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

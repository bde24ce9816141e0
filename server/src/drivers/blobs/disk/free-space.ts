/** A part of the disk that contents never fill: the database and what else the server writes need it. */
import { readDiskRoom } from "../../disk-room.ts";
import type { FileSystem, OpenFile } from "./file-system.ts";

/** A measurement counts for so long; bytes written meanwhile are subtracted. Milliseconds. */
const FRESH_MS = 250;

/** Lengths and other notes of the store itself are let through: they are what frees space. */
const NOTE_BYTES = 4096;

export interface KeptFree {
  readonly directory: string;
  /** Bytes of the disk that stay free. */
  readonly bytes: number;
  /** Bytes that are free now; tests measure otherwise. */
  readonly measure?: (directory: string) => Promise<number>;
}

/** The same file system, where a write that would leave less than that is refused as on a full disk (ENOSPC). */
export function keepingFree(files: FileSystem, kept: KeptFree): FileSystem {
  if (kept.bytes === 0) return files;
  const space = new FreeSpace(kept);
  return {
    create: async (path) => guarded(await files.create(path), space),
    open: async (path, access) => {
      const file = await files.open(path, access);
      return access === "read" ? file : guarded(file, space);
    },
    link: (from, to) => files.link(from, to),
    remove: (path) => files.remove(path),
    facts: (path) => files.facts(path),
    list: (directory) => files.list(directory),
    makeDirectory: (path) => files.makeDirectory(path),
    flushDirectory: (path) => files.flushDirectory(path),
  };
}

function guarded(file: OpenFile, space: FreeSpace): OpenFile {
  return {
    write: async (bytes, position) => {
      const waiting = space.reserve(bytes.length);
      if (waiting !== null) await waiting;
      try {
        await file.write(bytes, position);
      } finally {
        space.end(bytes.length);
      }
    },
    read: (into, position) => file.read(into, position),
    truncate: (length) => file.truncate(length),
    flush: () => file.flush(),
    close: () => file.close(),
  };
}

class FreeSpace {
  readonly #kept: KeptFree;
  /** Bytes that may be written until the disk is measured again. */
  #left = 0;
  #freshUntil = 0;
  /** Bytes of writes that have begun: the disk may not show them yet. */
  #writing = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(kept: KeptFree) {
    this.#kept = kept;
  }

  /** null: the write may begin. Else resolves when it may, and rejects with ENOSPC when it may not. */
  reserve(bytes: number): Promise<void> | null {
    if (this.#grant(bytes)) return null;
    const admitted = this.#last.then(() => this.#admit(bytes));
    this.#last = admitted.catch(ignore);
    return admitted;
  }

  /** After a write that was let begin. */
  end(bytes: number): void {
    this.#writing -= bytes;
  }

  #grant(bytes: number): boolean {
    const isNote = bytes < NOTE_BYTES;
    if (!isNote && (this.#left < bytes || performance.now() >= this.#freshUntil)) return false;
    this.#left -= bytes;
    this.#writing += bytes;
    return true;
  }

  async #admit(bytes: number): Promise<void> {
    const { directory, bytes: kept, measure = readFree } = this.#kept;
    this.#left = (await measure(directory)) - kept - this.#writing;
    this.#freshUntil = performance.now() + FRESH_MS;
    if (!this.#grant(bytes)) throw Object.assign(new Error("The disk has only its reserve left"), { code: "ENOSPC" });
  }
}

/** Its own writer learns of it. */
function ignore(): void {}

async function readFree(directory: string): Promise<number> {
  return (await readDiskRoom(directory, 0)).freeBytes;
}

/** A file system whose calls can be made to fail, by kind and by count. */
import type { FileSystem, OpenFile } from "@coffer/server/drivers/blobs/disk/file-system";

export type FaultyCall = "create" | "link" | "write" | "flush" | "openDirectory" | "flushDirectory";

/** The system call that Node names in the error. */
const SYSTEM_CALLS: Readonly<Record<FaultyCall, string>> = {
  create: "open",
  link: "link",
  write: "write",
  flush: "fsync",
  openDirectory: "open",
  flushDirectory: "fsync",
};

export interface Fault {
  readonly code: "ENOSPC" | "EIO" | "EDQUOT" | "EMFILE" | "ENFILE" | "ENOMEM" | "EROFS";
  /** Which call fails, 0 being the next one; counted over `calls` together. */
  readonly at: number;
  readonly calls: readonly FaultyCall[];
  /** All later ones fail as well: a disk that stays full. */
  readonly persistent?: boolean;
}

export class FaultyFiles implements FileSystem {
  readonly #files: FileSystem;
  #fault: Fault | null = null;
  #count = 0;
  #hits = 0;
  #removal: Fault["code"] | null = null;

  constructor(files: FileSystem) {
    this.#files = files;
  }

  /** How often the current fault has struck. */
  get hits(): number {
    return this.#hits;
  }

  /** null: nothing fails any more. */
  inject(fault: Fault | null): void {
    this.#fault = fault;
    this.#count = 0;
    this.#hits = 0;
  }

  /** Every removal fails; null: none does any more. */
  failRemovals(code: Fault["code"] | null): void {
    this.#removal = code;
  }

  async create(path: string): Promise<OpenFile> {
    this.#meet("create");
    return this.#wrap(await this.#files.create(path));
  }

  async open(path: string, access: "read" | "write"): Promise<OpenFile> {
    return this.#wrap(await this.#files.open(path, access));
  }

  async link(from: string, to: string): Promise<void> {
    this.#meet("link");
    await this.#files.link(from, to);
  }

  async flushDirectory(path: string): Promise<void> {
    this.#meet("openDirectory");
    this.#meet("flushDirectory");
    await this.#files.flushDirectory(path);
  }

  async remove(path: string): Promise<void> {
    if (this.#removal !== null) throw Object.assign(new Error("injected at remove"), { code: this.#removal });
    return this.#files.remove(path);
  }

  facts(path: string): ReturnType<FileSystem["facts"]> {
    return this.#files.facts(path);
  }

  list(directory: string): Promise<string[]> {
    return this.#files.list(directory);
  }

  makeDirectory(path: string): Promise<void> {
    return this.#files.makeDirectory(path);
  }

  #wrap(file: OpenFile): OpenFile {
    return {
      write: async (bytes, position) => {
        this.#meet("write");
        await file.write(bytes, position);
      },
      flush: async () => {
        this.#meet("flush");
        await file.flush();
      },
      read: (into, position) => file.read(into, position),
      truncate: (length) => file.truncate(length),
      close: () => file.close(),
    };
  }

  #meet(call: FaultyCall): void {
    const fault = this.#fault;
    if (fault?.calls.includes(call) !== true) return;
    const turn = this.#count++;
    if (turn !== fault.at && !(fault.persistent === true && turn > fault.at)) return;
    this.#hits += 1;
    throw Object.assign(new Error(`${fault.code}: injected at ${call}`), {
      code: fault.code,
      syscall: SYSTEM_CALLS[call],
    });
  }
}

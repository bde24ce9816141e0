/**
 * What was the same in a directory and at its place at the service, and when. It only saves work: each row counts as long
 * as file and version at the service, and size and times here, are still those.
 *
 * ```
 * place        JSON: the two places
 * file <path>  JSON: [fileId, versionId, sha256, size, modified, changed, inode]
 * dir <path>   the folder's id
 * ```
 */
import { createHash } from "node:crypto";
import * as z from "zod/mini";
import { lockedError } from "../../http/errors.ts";
import { decodeJson, encodeJson } from "../../store/json-row.ts";
import { followTable, type ProfileStore, type RowChange, type Table } from "../../store/profile-store.ts";
import type { Mark } from "../files/file-mark.ts";

/** A content that was the same on both sides. */
export interface RecordedFile {
  readonly fileId: string;
  readonly versionId: string;
  readonly sha256: string;
  /** null: it was written too shortly before for its time to show the next change. */
  readonly mark: Mark | null;
}

const text = z.string();
const fileRow = z.tuple([text, text, text, z.number(), text, text, text]);
const FILE = "file ";
const FOLDER = "dir ";
const PLACE = "place";

export class FolderState implements AsyncDisposable {
  readonly files = new Map<string, RecordedFile>();
  readonly folders = new Map<string, string>();
  readonly #table: Table | null;
  /** null: nothing is written. */
  readonly #lock: AsyncDisposable | null;
  /** Rows that are not written yet, the last of each key, and the write that is under way. */
  #waiting = new Map<string, Uint8Array | null>();
  #writing: Promise<void> | null = null;
  /** What kept a write from its end: nothing more is written, and the disposal throws it. */
  #failure: { readonly error: unknown } | null = null;

  private constructor(table: Table | null, lock: AsyncDisposable | null) {
    this.#table = table;
    this.#lock = lock;
  }

  /**
   * Reads the state and holds its lock. Where nothing can be kept it is empty, and all is compared by digest.
   * @throws SdkError `locked` while another process works on the same two places.
   */
  static async open(store: ProfileStore, purpose: string): Promise<FolderState> {
    const name = nameOf(purpose);
    let lock: AsyncDisposable | null = null;
    try {
      lock = await store.lock(name, 0);
      if (lock === null) throw lockedError("Another process works on this directory and the same folder");
      const state = new FolderState(store.table(name), lock);
      await state.#read();
      if (!(await FolderState.exists(store, purpose))) state.#put(PLACE, new TextEncoder().encode(purpose));
      return state;
    } catch (error) {
      await lock?.[Symbol.asyncDispose]();
      if (!store.cannotKeep(error)) throw error;
      return new FolderState(null, null);
    }
  }

  /** For a dry run: what is kept, without a lock. */
  static async openReadOnly(store: ProfileStore, purpose: string): Promise<FolderState> {
    try {
      const state = new FolderState(store.table(nameOf(purpose)), null);
      await state.#read();
      return state;
    } catch (error) {
      if (!store.cannotKeep(error)) throw error;
      return new FolderState(null, null);
    }
  }

  /** Whether an earlier run was between these places. */
  static async exists(store: ProfileStore, purpose: string): Promise<boolean> {
    return (await store.table(nameOf(purpose)).get(PLACE)) !== null;
  }

  recordFile(path: string, known: RecordedFile): void {
    const { fileId, versionId, sha256, mark } = known;
    this.files.set(path, known);
    const times = mark === null ? ["", "", ""] : [mark.modified, mark.changed, mark.inode];
    this.#put(FILE + path, encodeJson([fileId, versionId, sha256, mark?.size ?? 0, ...times]));
  }

  recordFolder(path: string, folderId: string): void {
    if (this.folders.get(path) === folderId) return;
    this.folders.set(path, folderId);
    this.#put(FOLDER + path, new TextEncoder().encode(folderId));
  }

  forget(path: string): void {
    if (this.files.delete(path)) this.#put(FILE + path, null);
    if (this.folders.delete(path)) this.#put(FOLDER + path, null);
  }

  /** All rows are written. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.#writing;
      if (this.#failure !== null) throw this.#failure.error;
    } finally {
      await this.#lock?.[Symbol.asyncDispose]();
    }
  }

  #put(key: string, value: Uint8Array | null): void {
    if (this.#lock === null || this.#failure !== null) return;
    this.#waiting.set(key, value);
    this.#writing ??= this.#write();
  }

  /** Rows that come meanwhile go with the next write. What a power failure loses is compared by digest. */
  async #write(): Promise<void> {
    try {
      // Rows of one turn go together.
      await Promise.resolve();
      while (this.#waiting.size > 0) {
        const changes = [...this.#waiting].map(([key, value]): RowChange => ({ key, value }));
        this.#waiting = new Map();
        await this.#table?.write(changes, { durability: "relaxed" });
      }
    } catch (error) {
      this.#failure = { error };
    } finally {
      this.#writing = null;
    }
  }

  async #read(): Promise<void> {
    if (this.#table === null) return;
    await followTable(this.#table, null, {
      clear: () => {
        this.files.clear();
        this.folders.clear();
      },
      set: (key, value) => {
        if (key.startsWith(FOLDER)) setOrDelete(this.folders, key.slice(FOLDER.length), value, decodeFolder);
        else if (key.startsWith(FILE)) setOrDelete(this.files, key.slice(FILE.length), value, decodeFile);
      },
    });
  }
}

function setOrDelete<Value>(
  map: Map<string, Value>,
  path: string,
  value: Uint8Array | null,
  decode: (value: Uint8Array) => Value,
): void {
  if (value === null) map.delete(path);
  else map.set(path, decode(value));
}

const decodeFolder = (value: Uint8Array): string => new TextDecoder().decode(value);

function decodeFile(value: Uint8Array): RecordedFile {
  const [fileId, versionId, sha256, size, modified, changed, inode] = decodeJson(
    fileRow,
    value,
    "the state of a folder",
  );
  return { fileId, versionId, sha256, mark: modified === "" ? null : { size, modified, changed, inode } };
}

const nameOf = (purpose: string): string => `folder-${createHash("sha256").update(purpose).digest("hex")}`;

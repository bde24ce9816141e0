/**
 * The journal of a directory and its place at the service: what was the same on both sides, and when. It only saves
 * work: each line counts as long as file and version at the service, and size and times here, are still those.
 *
 * ```
 * header   {"coffer":"folder 1","purpose":…}
 * file     ["f", path, fileId, versionId, sha256, size, modified, changed, inode]
 * folder   ["d", path, folderId]
 * gone     ["x", path]
 * ```
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open, readFile, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";
import { lockedError } from "../../http/errors.ts";
import { configDirectory, type Environment } from "../config/config.ts";
import { fileErrorCode, makePrivateDirectory, replaceFile } from "../store/durable-file.ts";
import type { Mark } from "../files/file-mark.ts";
import { hasNoPlace } from "../store/journal.ts";
import { acquireLock, type LockFile } from "../store/lock-file.ts";

/** A content that was the same on both sides. */
export interface RecordedFile {
  readonly fileId: string;
  readonly versionId: string;
  readonly sha256: string;
  /** null: it was written too shortly before for its time to show the next change. */
  readonly mark: Mark | null;
}

const text = z.string();
const fileLine = z.tuple([z.literal("f"), text, text, text, text, z.number(), text, text, text]);
const folderLine = z.tuple([z.literal("d"), text, text]);
const goneLine = z.tuple([z.literal("x"), text]);
const line = z.union([fileLine, folderLine, goneLine]);
type Line = z.infer<typeof line>;

/** `folders` in the configuration's directory. */
export function folderJournalDirectory(env?: Environment): string {
  return join(configDirectory(env), "folders");
}

export class FolderState implements AsyncDisposable {
  readonly files = new Map<string, RecordedFile>();
  readonly folders = new Map<string, string>();
  readonly #purpose: string;
  readonly #path: string;
  readonly #lock: LockFile | null;
  #file: FileHandle | null = null;
  /** Lines that are not written yet, and the write that is under way. */
  #waiting = "";
  #writing: Promise<void> | null = null;
  /** A crash cut off the last line: the next one must not go on in it. */
  #isCutOff = false;
  /** Lines in the file that no longer count. */
  #outdated = 0;

  private constructor(purpose: string, path: string, lock: LockFile | null) {
    this.#purpose = purpose;
    this.#path = path;
    this.#lock = lock;
  }

  /**
   * Reads the journal and holds its lock. Without a place for a journal it is empty, and all is compared by digest.
   * @throws SdkError `locked` while another process works on the same two places.
   */
  static async open(directory: string, purpose: string): Promise<FolderState> {
    const path = pathOf(directory, purpose);
    try {
      await makePrivateDirectory(directory);
      const lock = await acquireLock(`${path}.lock`, 0);
      if (lock === null) throw lockedError("Another process works on this directory and the same folder");
      const state = new FolderState(purpose, path, lock);
      try {
        await state.#read();
      } catch (error) {
        await lock[Symbol.asyncDispose]();
        throw error;
      }
      return state;
    } catch (error) {
      if (!hasNoPlace(error)) throw error;
      return new FolderState(purpose, path, null);
    }
  }

  /** For a dry run: what the journal says, without a lock. */
  static async openReadOnly(directory: string, purpose: string): Promise<FolderState> {
    const path = pathOf(directory, purpose);
    const state = new FolderState(purpose, path, null);
    await state.#read();
    return state;
  }

  /** Whether there is a journal. */
  static async exists(directory: string, purpose: string): Promise<boolean> {
    return (await readText(pathOf(directory, purpose))) !== "";
  }

  recordFile(path: string, known: RecordedFile): void {
    const { fileId, versionId, sha256, mark } = known;
    this.files.set(path, known);
    const times = mark === null ? ["", "", ""] : [mark.modified, mark.changed, mark.inode];
    this.#append(["f", path, fileId, versionId, sha256, mark?.size ?? 0, ...times]);
  }

  recordFolder(path: string, folderId: string): void {
    if (this.folders.get(path) === folderId) return;
    this.folders.set(path, folderId);
    this.#append(["d", path, folderId]);
  }

  forget(path: string): void {
    const isFile = this.files.delete(path);
    const isFolder = this.folders.delete(path);
    if (isFile || isFolder) this.#append(["x", path]);
  }

  /** On disk, and rewritten when half of its lines no longer count. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      while (this.#writing !== null) await this.#writing;
      await this.#file?.close();
      const isDirty = this.#file !== null && this.#outdated > this.files.size + this.folders.size;
      if (isDirty) await replaceFile(this.#path, [this.#header(), ...this.#lines()].join("\n").concat("\n"));
    } finally {
      await this.#lock?.[Symbol.asyncDispose]();
    }
  }

  *#lines(): Generator<string, void, undefined> {
    for (const [path, id] of this.folders) yield JSON.stringify(["d", path, id]);
    for (const [path, { fileId, versionId, sha256, mark }] of this.files) {
      const times = mark === null ? ["", "", ""] : [mark.modified, mark.changed, mark.inode];
      yield JSON.stringify(["f", path, fileId, versionId, sha256, mark?.size ?? 0, ...times]);
    }
  }

  #header(): string {
    return JSON.stringify({ coffer: "folder 1", purpose: this.#purpose });
  }

  #append(fields: readonly (string | number)[]): void {
    if (this.#lock === null) return;
    this.#outdated += 1;
    this.#waiting += `${JSON.stringify(fields)}\n`;
    this.#writing ??= this.#write();
  }

  /** Lines that come meanwhile go with the next write. What a crash loses is compared by digest. */
  async #write(): Promise<void> {
    try {
      // Lines of one turn go together.
      await Promise.resolve();
      while (this.#waiting !== "") {
        const lines = this.#isCutOff ? `\n${this.#waiting}` : this.#waiting;
        this.#isCutOff = false;
        this.#waiting = "";
        this.#file ??= await open(this.#path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT, 0o600);
        await this.#file.appendFile(lines);
      }
    } finally {
      this.#writing = null;
    }
  }

  async #read(): Promise<void> {
    const content = await readText(this.#path);
    const [header, ...lines] = content.split("\n");
    this.#isCutOff = content !== "" && !content.endsWith("\n");
    if (header === this.#header()) for (const each of lines) this.#applyLine(each);
    else if (this.#lock !== null) await replaceFile(this.#path, `${this.#header()}\n`);
    this.#outdated = lines.length - this.files.size - this.folders.size;
  }

  /** A crash cut off a line that cannot be read, and nobody misses it. */
  #applyLine(written: string): void {
    const fields = parseLine(written);
    if (fields === null) return;
    const [kind, path] = fields;
    if (kind === "d") this.folders.set(path, fields[2]);
    else if (kind === "x") {
      this.files.delete(path);
      this.folders.delete(path);
    } else {
      const [, , fileId, versionId, sha256, size, modified, changed, inode] = fields;
      this.files.set(path, {
        fileId,
        versionId,
        sha256,
        mark: modified === "" ? null : { size, modified, changed, inode },
      });
    }
  }
}

const pathOf = (directory: string, purpose: string): string =>
  join(directory, `${createHash("sha256").update(purpose).digest("hex")}.jsonl`);

function parseLine(written: string): Line | null {
  if (written === "") return null;
  try {
    const result = z.safeParse(line, JSON.parse(written));
    return result.success ? result.data : null;
  } catch {
    return null;
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (fileErrorCode(error) === "ENOENT" || hasNoPlace(error)) return "";
    throw error;
  }
}

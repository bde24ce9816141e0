/**
 * The statements seen of vaults, in files beside the pins. They must outlive the process, or a service could wait for
 * the next one.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { closeSync, existsSync, linkSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { copyFile, open, stat, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { SeenStatement } from "@coffer/crypto";
import { configurationError, lockedError } from "../../http/errors.ts";
import type { SeenKind, SeenMemory, SeenStore } from "../../shared-vaults/trust/seen-memory.ts";
import { configDirectory, type Environment } from "../config/config.ts";
import { fileErrorCode, makePrivateDirectory, replaceFile } from "./durable-file.ts";
import { acquireLock } from "./lock-file.ts";
import { decodeRest, encodeLine, encodeRest, keyOf } from "./seen-lines.ts";
import { isNewer, Notes, SeenLog } from "./seen-log.ts";

/** Longest time for which a note is in memory alone, and between two reads of other processes' notes. Milliseconds. */
const INTERVAL_MS = 1_000;
const LOCK_WAIT_MS = 5_000;
/** Void lines allowed before the file is rewritten, besides as many as count. */
const SPARE_LINES = 512;

/** `vault-seen` in the configuration's directory. */
export function seenDirectory(env?: Environment): string {
  return join(configDirectory(env), "vault-seen");
}

/**
 * One file of mode 0600 for each vault, to which all processes of this machine append. It names ids, numbers and
 * digests alone. Each file keeps the 65,536 statements noted last (7 MB, and 14 before it is rewritten). A crash takes
 * away at most the notes of the last second. A damaged file is set aside as `….damaged` with a warning; its whole lines still count.
 * @throws SdkError `configuration` for files of a later version.
 */
export function fileSeen(directory: string = seenDirectory()): SeenStore {
  return {
    open: async (chainObjectId) => {
      if (!/^0x[0-9a-f]{64}$/.test(chainObjectId)) throw new TypeError("not the id of a chain object");
      await makePrivateDirectory(directory);
      const file = new SeenFile(join(directory, `${chainObjectId.slice(2)}.log`), chainObjectId);
      await file.load();
      await file.tidy().catch((error: unknown) => {
        warn(`What was seen of a vault cannot be written anew in ${directory}`, error);
      });
      return file;
    },
  };
}

/** Files with notes that are not written yet: written when the process ends. */
const unwritten = new Set<SeenFile>();
let watching = false;

function writeAtExit(file: SeenFile): void {
  unwritten.add(file);
  if (watching) return;
  watching = true;
  process.once("exit", () => {
    for (const each of unwritten) each.writeNow();
  });
}

class SeenFile implements SeenMemory {
  readonly #path: string;
  readonly #object: string;
  /** The content of the file. */
  #log: SeenLog;
  /** Fields by key: those to be written, and those on their way. */
  #pending = new Notes();
  #writing = new Map<string, string>();
  #timer: NodeJS.Timeout | null = null;
  #flushing: Promise<void> | null = null;
  #looking: Promise<void> | null = null;
  #looked = 0;

  constructor(path: string, object: string) {
    this.#path = path;
    this.#object = object;
    this.#log = new SeenLog(object);
  }

  find(kind: SeenKind, id: string): SeenStatement | null {
    const rest = this.#find(keyOf(kind, id));
    return rest === null ? null : decodeRest(rest);
  }

  note(kind: SeenKind, id: string, seen: SeenStatement): void {
    const [key, rest] = [keyOf(kind, id), encodeRest(seen)];
    const before = this.#find(key);
    if (before !== null && !isNewer(rest, before)) return;
    this.#pending.keep(key, rest);
    writeAtExit(this);
    this.#timer ??= setTimeout(() => {
      this.flush().catch((error: unknown) => {
        warn(`What was seen of a vault cannot be kept in ${this.#path}`, error);
      });
    }, INTERVAL_MS).unref();
  }

  async refresh(): Promise<void> {
    if (performance.now() - this.#looked >= INTERVAL_MS) await this.load();
  }

  /** One look at a time. */
  async load(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looked = performance.now();
      this.#looking = null;
    });
    await this.#looking;
  }

  async flush(): Promise<void> {
    while (this.#flushing !== null) await this.#flushing.catch(() => undefined);
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#pending.size === 0) return;
    this.#flushing = this.#write().finally(() => (this.#flushing = null));
    await this.#flushing;
    await this.tidy();
  }

  /** Without void lines, where there are too many. A process that ends leaves its own to the next. */
  async tidy(): Promise<void> {
    if (this.#log.lines > 2 * this.#log.size + SPARE_LINES) await this.#rewrite(() => true, 0);
  }

  async forget(id: string | null): Promise<void> {
    await this.flush();
    const keys = id === null ? null : new Set([keyOf("version", id), keyOf("entry", id)]);
    if (!(await this.#rewrite((key) => keys !== null && !keys.has(key), LOCK_WAIT_MS)))
      throw lockedError(`Another process keeps ${this.#path} locked`);
    await this.#looking;
    await this.load();
  }

  /** At the end of the process, where nothing can wait. A note on its way may then be in the file twice, which does no harm. */
  writeNow(): void {
    try {
      beginFile(this.#path, this.#object);
      const file = openSync(this.#path, "a", 0o600);
      writeSync(file, batchOf([...this.#writing, ...this.#pending]));
      closeSync(file);
    } catch {
      // The process ends: the newest notes are lost, as after a crash.
    }
  }

  /** If two processes saw two statements of one number, the one in the file counts: the other is refused from then on. */
  #find(key: string): string | null {
    const own = this.#pending.get(key) ?? this.#writing.get(key) ?? null;
    const known = this.#log.find(key);
    return own === null || (known !== null && !isNewer(own, known)) ? known : own;
  }

  async #look(): Promise<void> {
    await using file = await openIfThere(this.#path);
    const nonce = file === null ? null : await SeenLog.readNonce(file);
    // Another process has rewritten or forgotten it: its content counts now.
    if (this.#log.isRead && nonce !== this.#log.nonce) this.#log = new SeenLog(this.#object);
    if (file === null) return;
    await this.#log.read(file);
    if (this.#log.problem === "version")
      throw configurationError(`The file ${this.#path} was written by a later version: update this client`);
    if (this.#log.problem === "damaged") await this.#setAside();
  }

  async #write(): Promise<void> {
    this.#writing = this.#pending;
    this.#pending = new Notes();
    try {
      await append(this.#path, this.#object, batchOf(this.#writing));
      await this.#looking;
      await this.load();
    } catch (error) {
      // The user who removed the directory wants nothing kept there.
      if (fileErrorCode(error) !== "ENOENT") {
        for (const [key, rest] of this.#writing) if (!this.#pending.has(key)) this.#pending.set(key, rest);
        throw error;
      }
    } finally {
      this.#writing = new Map();
      if (this.#pending.size === 0) unwritten.delete(this);
    }
  }

  async #setAside(): Promise<void> {
    await copyFile(this.#path, `${this.#path}.damaged`);
    warn(`${this.#path} was damaged and is set aside as ….damaged: what was whole in it still counts`);
    // A read of the new file is whole.
    if (await this.#rewrite(() => true, 0)) this.#log.problem = null;
  }

  /**
   * Rewrites the file with the lines that count. Others append without a lock: it brings over what came meanwhile, and
   * a process that appends to the old file afterwards notices. False: another process does it.
   */
  async #rewrite(isKept: (key: string) => boolean, waitMs: number): Promise<boolean> {
    await using lock = await acquireLock(`${this.#path}.lock`, waitMs);
    if (lock === null) return false;
    await using old = await openIfThere(this.#path);
    if (old === null) return true;
    const log = new SeenLog(this.#object);
    await log.read(old);
    await replaceFile(this.#path, newHeader(this.#object) + batchOf(log.entries(isKept)));
    const late = await log.readRest(old);
    if (late !== "") await append(this.#path, this.#object, late);
    return true;
  }
}

function newHeader(object: string): string {
  return SeenLog.header(object, randomBytes(8).toString("hex"));
}

/** Each line begins with its line break, so that a line that a crash cut off spoils no other. */
function batchOf(entries: Iterable<readonly [key: string, rest: string]>): string {
  return Array.from(entries, ([key, rest]) => `\n${encodeLine({ key, rest })}`).join("");
}

/**
 * Makes the file with its header in one step: a header that a second process appends would spoil the last line of the
 * first. A file that is there stays as it is.
 */
function beginFile(path: string, object: string): void {
  if (existsSync(path)) return;
  const draft = join(dirname(path), `.coffer-${randomUUID()}.tmp`);
  const isThere = (error: unknown): boolean => fileErrorCode(error) === "EEXIST";
  writeFileSync(draft, newHeader(object), { flag: "wx", mode: 0o600, flush: true });
  try {
    linkSync(draft, path);
  } catch (error) {
    // Some file systems know no links: there the first to make the file also writes its header, a moment later.
    if (!isThere(error)) writeHeader(path, object, isThere);
  } finally {
    rmSync(draft, { force: true });
  }
}

function writeHeader(path: string, object: string, isThere: (error: unknown) => boolean): void {
  try {
    writeFileSync(path, newHeader(object), { flag: "wx", mode: 0o600 });
  } catch (error) {
    if (!isThere(error)) throw error;
  }
}

/** How often it writes again to a file that is replaced meanwhile. */
const ATTEMPTS = 10;

/** One write, so that lines of several processes do not mix (O_APPEND, write(2)). On disk when it resolves. */
async function append(path: string, object: string, batch: string): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    beginFile(path, object);
    await using file = await open(path, "a", 0o600);
    const { ino } = await file.stat();
    await file.appendFile(batch);
    await file.datasync();
    if ((await inodeOf(path)) === ino) return;
  }
}

async function inodeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).ino;
  } catch (error) {
    if (fileErrorCode(error) === "ENOENT") return null;
    throw error;
  }
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    const file = await open(path, "r");
    if ((await file.stat()).isFile()) return file;
    await file.close();
  } catch (error) {
    if (fileErrorCode(error) === "ENOENT") return null;
    throw configurationError(`The file ${path} cannot be read (${fileErrorCode(error) ?? "unknown"})`);
  }
  throw configurationError(`${path} is no file`);
}

function warn(message: string, cause?: unknown): void {
  const code = fileErrorCode(cause);
  process.emitWarning(code === null ? message : `${message} (${code})`, { code: "COFFER_SEEN" });
}

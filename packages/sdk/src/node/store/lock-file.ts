/**
 * A lock among processes: a directory with one file, which is named after its holder. A lock appears whole, because a
 * prepared directory is renamed to it, and a directory with a file in it is never replaced (rename(2), ENOTEMPTY). A
 * stale lock is taken over by deleting the file of that very holder: whoever is late finds no such file, and deletes
 * nobody else's. So two processes never hold one lock. docs/why/client-store.md says why no library does this.
 */
import { randomUUID } from "node:crypto";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
} from "node:fs";
import { utimes } from "node:fs/promises";
import { join, resolve } from "node:path";
// By name: in test environments that imitate a page, the global timers are a page's, which have no `unref`.
import { clearInterval, setInterval } from "node:timers";
import { setTimeout as sleep } from "node:timers/promises";
import { lockedError } from "../../http/errors.ts";
import { fileErrorCode } from "./durable-file.ts";
import { isInUse, processMark } from "./process-mark.ts";

const FIRST_POLL_MS = 1;
const LONGEST_POLL_MS = 25;
/** This machine cannot look up a holder on another machine or in another container: its lock counts while the holder keeps it fresh. */
const FOREIGN_MS = 10 * 60_000;
const REFRESH_MS = 60_000;

/** A held lock; dispose it to let the next one in. */
export class LockFile {
  readonly #path: string;
  readonly #holderFile: string;
  readonly #endTurn: () => void;
  readonly #refresh: NodeJS.Timeout;

  constructor(path: string, holder: string, endTurn: () => void) {
    this.#path = path;
    this.#holderFile = join(path, holder);
    this.#endTurn = endTurn;
    this.#refresh = setInterval(() => void touch(this.#holderFile), REFRESH_MS).unref();
  }

  /**
   * For a holder that was stopped for minutes, such as a suspended machine with a shared directory: ask before each write.
   * @throws SdkError `locked` if another machine has taken the lock over meanwhile.
   */
  requireHeld(): void {
    if (!existsSync(this.#holderFile)) throw lockedError(`Another process has taken over the lock ${this.#path}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#refresh);
    try {
      removeHolder(this.#path, this.#holderFile);
      return Promise.resolve();
    } finally {
      this.#endTurn();
    }
  }
}

/**
 * Acquires the lock at `path`. Waits up to `waitMs`, then returns null. Takes over a lock whose process is gone, also when
 * another process, or this one, has got its id since.
 */
export async function acquireLock(path: string, waitMs: number): Promise<LockFile | null> {
  const deadline = performance.now() + waitMs;
  const endTurn = await takeTurn(resolve(path), deadline);
  if (endTurn === null) return null;
  try {
    const holder = `${processMark()}.${randomUUID()}`;
    if (await enter(path, holder, deadline)) return new LockFile(path, holder, endTurn);
  } catch (error) {
    endTurn();
    throw error;
  }
  endTurn();
  return null;
}

/** Turns of this process, by path: those that wait for each other here need not poll the disk. */
const turns = new Map<string, Promise<void>>();

async function takeTurn(path: string, deadline: number): Promise<(() => void) | null> {
  for (let turn = turns.get(path); turn !== undefined; turn = turns.get(path)) {
    const left = deadline - performance.now();
    if (left <= 0) return null;
    const timer = new AbortController();
    await Promise.race([turn, sleep(left, undefined, { signal: timer.signal }).catch(() => undefined)]);
    timer.abort();
  }
  const { promise, resolve: end } = Promise.withResolvers<void>();
  turns.set(path, promise);
  return () => {
    turns.delete(path);
    end();
  };
}

/** False: the deadline came first. */
async function enter(path: string, holder: string, deadline: number): Promise<boolean> {
  let pause = FIRST_POLL_MS;
  for (;;) {
    const other = readHolder(path);
    if (other === null) {
      if (placeHolder(path, holder)) return true;
    } else if (!(await isInUse(other.split(".", 1)[0] ?? "", join(path, other), FOREIGN_MS))) {
      removeHolder(path, join(path, other));
    } else {
      if (performance.now() >= deadline) return false;
      // Several processes that wait do not ask in step.
      await sleep(pause * (0.5 + Math.random()));
      pause = Math.min(2 * pause, LONGEST_POLL_MS);
    }
  }
}

// Names are read and changed at once: that takes a tenth of the processor time of as many promises.

/** The name of the holder's file; null: nobody holds the lock. */
function readHolder(path: string): string | null {
  try {
    return readdirSync(path)[0] ?? null;
  } catch (error) {
    if (fileErrorCode(error) === "ENOENT") return null;
    throw error;
  }
}

/** False: somebody else was faster. */
function placeHolder(path: string, holder: string): boolean {
  const draft = `${path}.${randomUUID()}`;
  mkdirSync(draft, { mode: 0o700 });
  try {
    closeSync(openSync(join(draft, holder), "wx", 0o600));
    renameSync(draft, path);
    return true;
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    const code = fileErrorCode(error);
    if (code === "ENOTEMPTY" || code === "EEXIST") return false;
    // Windows replaces no directory, and names that so.
    if (process.platform === "win32" && (code === "EPERM" || code === "EACCES") && existsSync(path)) return false;
    throw error;
  }
}

/** The empty directory goes too, unless somebody has entered meanwhile. */
function removeHolder(path: string, holderFile: string): void {
  try {
    unlinkSync(holderFile);
    rmdirSync(path);
  } catch (error) {
    const code = fileErrorCode(error);
    if (code !== "ENOENT" && code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
  }
}

async function touch(path: string): Promise<void> {
  await utimes(path, new Date(), new Date()).catch(() => undefined);
}

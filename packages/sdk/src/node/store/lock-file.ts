import { randomUUID } from "node:crypto";
import { link, open, readFile, rename, rm, utimes } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileErrorCode } from "./durable-file.ts";
import { isInUse, processMark } from "./process-mark.ts";

const POLL_MS = 25;
/** This machine cannot look up a holder on another machine or container: its lock counts while the holder keeps it fresh. */
const FOREIGN_MS = 10 * 60_000;
const REFRESH_MS = 60_000;

/** A held lock; dispose it to let the next one in. */
export class LockFile {
  readonly #path: string;
  readonly #token: string;
  readonly #refresh: NodeJS.Timeout;

  constructor(path: string, token: string) {
    this.#path = path;
    this.#token = token;
    this.#refresh = setInterval(() => void touch(path), REFRESH_MS).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#refresh);
    if ((await readLock(this.#path)) === this.#token) await rm(this.#path, { force: true });
  }
}

/**
 * Takes the lock at `path`, among the processes of this machine. Waits up to `waitMs`, then answers null. Takes over a
 * lock whose process is gone, also when another process, or this one, has got its id since.
 */
export async function acquireLock(path: string, waitMs: number): Promise<LockFile | null> {
  const token = `${processMark()} ${randomUUID()}`;
  const deadline = performance.now() + waitMs;
  for (;;) {
    if (await createLock(path, token)) return new LockFile(path, token);
    const holder = await readLock(path);
    if (holder !== null && !(await isInUse(holder.split(" ", 1)[0] ?? "", path, FOREIGN_MS)))
      await removeStale(path, holder);
    else if (performance.now() >= deadline) return null;
    else await sleep(POLL_MS);
  }
}

/** The lock appears with its content at once: a name that is linked, never a file that is still empty. */
async function createLock(path: string, token: string): Promise<boolean> {
  const draft = `${path}.${randomUUID()}`;
  try {
    const file = await open(draft, "wx", 0o600);
    try {
      await file.writeFile(token);
    } finally {
      await file.close();
    }
    await link(draft, path);
    return true;
  } catch (error) {
    if (fileErrorCode(error) === "EEXIST") return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

async function readLock(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (fileErrorCode(error) === "ENOENT") return null;
    throw error;
  }
}

/** Moves the stale lock aside; when another process was faster and its fresh lock was moved, puts that one back. */
async function removeStale(path: string, stale: string): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
    if ((await readLock(aside)) !== stale) await link(aside, path);
  } catch (error) {
    const code = fileErrorCode(error);
    if (code !== "ENOENT" && code !== "EEXIST") throw error;
  } finally {
    await rm(aside, { force: true });
  }
}

/** The holder notices a lost lock when it gives the lock back. */
async function touch(path: string): Promise<void> {
  await utimes(path, new Date(), new Date()).catch(() => undefined);
}

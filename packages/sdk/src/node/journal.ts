import { createHash, randomUUID } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";
import { ApiError, SdkError } from "../errors.ts";
import type { Checkpoint } from "../upload/resumable.ts";
import { fileErrorCode, makePrivateDirectory, replaceFile } from "./durable-file.ts";
import { sameIdentity, type FileIdentity } from "./file-source.ts";
import { acquireLock, type LockFile } from "./lock-file.ts";

const identity = z.object({
  device: z.string(),
  inode: z.string(),
  size: z.string(),
  modified: z.string(),
  changed: z.string(),
});
const entry = z.object({
  version: z.literal(1),
  purpose: z.string(),
  source: identity,
  idempotencyKey: z.string(),
  uploadId: z.nullable(z.uuid()),
});

type Entry = z.infer<typeof entry>;

/** A journal for one upload of one file to one place. Holds its lock until disposed. */
export interface Journal extends Checkpoint, AsyncDisposable {
  /** A session for an earlier state of the file: of no use, to be ended on the server. */
  readonly outdated: string | null;
  /** The upload is over, for good or for bad. */
  remove(): Promise<void>;
}

/**
 * Opens the journal of an upload. `purpose` names service, file and place, and holds no secret: an entry for the same purpose and
 * an unchanged file is taken up. Null when another process is at the same upload: then this one goes without a journal.
 *
 * The creation's Idempotency-Key is on disk before the creation is sent, so that a crash between the two cannot lose a session, and the
 * session's id before its first part.
 */
export async function openJournal(
  directory: string,
  purpose: string,
  source: FileIdentity,
  idempotencyKey: string | undefined,
): Promise<Journal | null> {
  await makePrivateDirectory(directory);
  const path = join(directory, `${createHash("sha256").update(purpose).digest("hex")}.json`);
  const lock = await acquireLock(`${path}.lock`, 0);
  if (lock === null) return null;
  try {
    const found = await readEntry(path, purpose);
    const usable = found !== null && sameIdentity(found.source, source) ? found : null;
    const current: Entry = usable ?? {
      version: 1,
      purpose,
      source,
      idempotencyKey: idempotencyKey ?? randomUUID(),
      uploadId: null,
    };
    if (usable === null) await writeEntry(path, current);
    return journal(path, lock, current, usable === null ? (found?.uploadId ?? null) : null);
  } catch (error) {
    await lock[Symbol.asyncDispose]();
    throw error;
  }
}

function journal(path: string, lock: LockFile, current: Entry, outdated: string | null): Journal {
  return {
    uploadId: current.uploadId,
    idempotencyKey: current.idempotencyKey,
    outdated,
    created: (uploadId) => {
      current = { ...current, uploadId };
      return writeEntry(path, current);
    },
    restarted: async () => {
      current = { ...current, uploadId: null, idempotencyKey: randomUUID() };
      await writeEntry(path, current);
      return current.idempotencyKey;
    },
    survives: isWorthResuming,
    remove: () => rm(path, { force: true }),
    [Symbol.asyncDispose]: () => lock[Symbol.asyncDispose](),
  };
}

/** Connection, time limit, overload, and a key that a new sign-in replaces. An abort is the caller's word that it is over. */
function isWorthResuming(error: unknown): boolean {
  if (error instanceof ApiError && error.status === 401) return true;
  return error instanceof SdkError && error.retryable && error.code !== "integrity_failed";
}

async function writeEntry(path: string, current: Entry): Promise<void> {
  await replaceFile(path, `${JSON.stringify(current)}\n`);
}

/** The entry; null when there is none that this version understands. */
async function readEntry(path: string, purpose: string): Promise<Entry | null> {
  try {
    const result = z.safeParse(entry, JSON.parse(await readFile(path, "utf8")));
    return result.success && result.data.purpose === purpose ? result.data : null;
  } catch (error) {
    if (error instanceof SyntaxError || fileErrorCode(error) === "ENOENT") return null;
    throw error;
  }
}

import { createHash, randomUUID } from "node:crypto";
import { readdir, readFile, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";
import { AbortError, ApiError, SdkError } from "../../http/errors.ts";
import { appendDurably, fileErrorCode, makePrivateDirectory, replaceFile } from "./durable-file.ts";
import { acquireLock, type LockFile } from "./lock-file.ts";
import type { KeptUpload, SourceIdentity } from "../../transfer/journals.ts";

const entry = z.object({
  version: z.literal(1),
  purpose: z.string(),
  source: z.record(z.string(), z.string()),
  idempotencyKey: z.string(),
  uploadId: z.nullable(z.uuid()),
  /** For an upload into a shared vault: the plan of its bytes, and the name of its file of parts. */
  begun: z.optional(z.object({ id: z.uuid(), plan: z.unknown() })),
});
const partsHead = z.object({ begun: z.uuid() });

type Entry = z.infer<typeof entry>;

/** The name of a reason to abort after which the next call goes on. Any other reason frees what was begun. */
const PAUSE = "PauseError";

/** No permission, a read-only system, or no usable home directory. `os.homedir` reports a missing one as a system error. */
const NO_PLACE = new Set(["EACCES", "EPERM", "EROFS", "ENOENT", "ENOTDIR", "ERR_SYSTEM_ERROR"]);

/** As {@link openJournal}, and null where no journal can be kept. */
export async function openWherePossible(open: () => Promise<KeptUpload | null>): Promise<KeptUpload | null> {
  try {
    return await open();
  } catch (error) {
    if (hasNoPlace(error)) return null;
    throw error;
  }
}

/** Whether no journal can be kept there. */
export function hasNoPlace(error: unknown): boolean {
  return NO_PLACE.has(fileErrorCode(error) ?? "");
}

/**
 * Opens the journal of an upload, which holds its lock until you close it. `purpose` names service, source and place,
 * and holds no secret. An entry for the same purpose and an unchanged source goes on. Null when another process works
 * on the same upload: then this one goes without a journal.
 *
 * The creation's Idempotency-Key is on disk before the creation is sent, so that a crash between the two cannot lose a
 * session. The session's id is on disk before its first part.
 */
export async function openJournal(
  directory: string,
  purpose: string,
  source: SourceIdentity,
  idempotencyKey?: string,
): Promise<KeptUpload | null> {
  await makePrivateDirectory(directory);
  const path = join(directory, `${createHash("sha256").update(purpose).digest("hex")}.json`);
  const lock = await acquireLock(`${path}.lock`, 0);
  if (lock === null) return null;
  try {
    const found = await readEntry(path, purpose);
    const usable = found !== null && isSame(found.source, source) ? found : null;
    const current: Entry = usable ?? {
      version: 1,
      purpose,
      source,
      idempotencyKey: idempotencyKey ?? randomUUID(),
      uploadId: null,
    };
    if (usable === null) await writeEntry(path, current);
    const parts = usable?.begun === undefined ? null : await readParts(partsOf(path), usable.begun.id);
    return journal(path, lock, { current, parts, outdated: usable === null ? (found?.uploadId ?? null) : null });
  } catch (error) {
    await lock[Symbol.asyncDispose]();
    throw error;
  }
}

interface Opened {
  current: Entry;
  /** null: there are none, or not those of the plan. */
  parts: readonly unknown[] | null;
  readonly outdated: string | null;
}

function journal(path: string, lock: LockFile, opened: Opened): KeptUpload {
  const write = async (change: Partial<Entry>): Promise<void> => {
    opened.current = { ...opened.current, ...change };
    await writeEntry(path, opened.current);
  };
  return {
    get uploadId() {
      return opened.current.uploadId;
    },
    get idempotencyKey() {
      return opened.current.idempotencyKey;
    },
    get kept() {
      const { begun } = opened.current;
      return begun === undefined || opened.parts === null ? null : { plan: begun.plan, parts: opened.parts };
    },
    outdated: opened.outdated,
    created: (uploadId) => write({ uploadId }),
    restarted: async () => {
      await write({ uploadId: null, idempotencyKey: randomUUID() });
      return opened.current.idempotencyKey;
    },
    keep: async (plan) => {
      const id = randomUUID();
      // First: without its parts a plan must never go on.
      await replaceFile(partsOf(path), `${JSON.stringify({ begun: id })}\n`);
      opened.parts = [];
      await write({ begun: { id, plan } });
    },
    keepPart: (part) => appendDurably(partsOf(path), `${JSON.stringify(part)}\n`),
    discard: async () => {
      const { uploadId } = opened.current;
      opened.parts = null;
      await write({ uploadId: null, idempotencyKey: randomUUID(), begun: undefined });
      return uploadId;
    },
    survives: isWorthResuming,
    remove: async () => {
      await rm(path, { force: true });
      await rm(partsOf(path), { force: true });
    },
    close: () => lock[Symbol.asyncDispose](),
  };
}

function isSame(a: SourceIdentity, b: SourceIdentity): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && a[name] === b[name]);
}

/** Forgets the journals of a directory that no process works on, and the directory when it is empty. */
export async function clearJournals(directory: string): Promise<void> {
  for (const name of await readdir(directory).catch(() => [])) {
    if (!name.endsWith(".json")) continue;
    const path = join(directory, name);
    const lock = await acquireLock(`${path}.lock`, 0);
    if (lock === null) continue;
    await rm(path, { force: true });
    await rm(partsOf(path), { force: true });
    await lock[Symbol.asyncDispose]();
  }
  await rmdir(directory).catch(() => undefined);
}

function partsOf(path: string): string {
  return path.replace(/\.json$/, ".parts");
}

/** Nobody waited for a line that was not written whole: nothing of its part was sent. null: the file is not that plan's. */
async function readParts(path: string, begun: string): Promise<readonly unknown[] | null> {
  const text = (await readText(path)) ?? "";
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  const lines = whole.split("\n").slice(0, -1).map(parseLine);
  const head = z.safeParse(partsHead, lines[0]);
  if (!head.success || head.data.begun !== begun || lines.includes(null)) return null;
  if (whole !== text) await replaceFile(path, whole);
  return lines.slice(1);
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** Connection, time limit, overload, and a key that a new sign-in replaces. An abort means that the caller gives up. */
function isWorthResuming(error: unknown): boolean {
  if (error instanceof ApiError && error.status === 401) return true;
  if (error instanceof AbortError) return error.reason instanceof Error && error.reason.name === PAUSE;
  return error instanceof SdkError && error.retryable && error.code !== "integrity_failed";
}

async function writeEntry(path: string, current: Entry): Promise<void> {
  await replaceFile(path, `${JSON.stringify(current)}\n`);
}

/** The entry; null when there is none that this version understands. */
async function readEntry(path: string, purpose: string): Promise<Entry | null> {
  const text = await readText(path);
  const result = z.safeParse(entry, text === null ? null : parseLine(text));
  return result.success && result.data.purpose === purpose ? result.data : null;
}

async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (fileErrorCode(error) === "ENOENT") return null;
    throw error;
  }
}

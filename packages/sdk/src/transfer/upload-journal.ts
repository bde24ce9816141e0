/** Unfinished uploads in a profile store. */
import * as z from "zod/mini";
import { AbortError, ApiError, SdkError } from "../http/errors.ts";
import { decodeJson, encodeJson } from "../store/json-row.ts";
import { rowsOf, type ProfileStore, type Row, type RowChange, type Table } from "../store/profile-store.ts";
import { digestOf, toHex } from "./digest.ts";
import type { KeptUpload, SourceIdentity, UploadJournals } from "./journals.ts";

/**
 * Rows of an upload in the table `uploads`:
 *
 * ```
 * <upload>/entry          JSON: what the source was, the session and the Idempotency-Key of its creation
 * <upload>/part 000000    JSON: the id of the plan in the entry
 * <upload>/part 000001    JSON: the first part of a version of a shared vault, and so on
 * <upload>                hash of the work "/" hash of the purpose
 * ```
 */
const entryRow = z.object({
  source: z.record(z.string(), z.string()),
  idempotencyKey: z.string(),
  uploadId: z.nullable(z.uuid()),
  /** For an upload into a shared vault: the plan of its bytes. Without its parts it must never go on (file-format §5). */
  begun: z.optional(z.object({ id: z.uuid(), plan: z.unknown() })),
});
const partsHead = z.object({ begun: z.uuid() });

type Entry = z.infer<typeof entryRow>;

const TABLE = "uploads";
/** The work of an upload that is none's part. */
const NO_WORK = "";
/** The name of a reason to abort after which the next call goes on. Any other reason frees what was begun. */
const PAUSE = "PauseError";

/** Keeps the uploads of longer works, such as rotations. They hold no secret. */
export function uploadJournals(store: ProfileStore): UploadJournals {
  return {
    open: (work, purpose, source) => openUpload(store, { work, purpose }, source),
    clear: async (work) => {
      const uploads = new Set<string>();
      const prefix = `${await hashOf(work)}/`;
      for await (const { key } of rowsOf(store.table(TABLE), prefix)) uploads.add(key.slice(0, prefix.length + 64));
      for (const upload of uploads) {
        await using lock = await store.lock(lockOf(upload), 0);
        if (lock !== null) await removeRows(store.table(TABLE), upload);
      }
    },
  };
}

/**
 * Opens the journal of an upload, which holds its lock until you close it. `purpose` names service, source and place,
 * and holds no secret. A record for the same purpose and an unchanged source goes on. null: another process works
 * on the same upload, or nothing can be kept here; then this one goes without a journal.
 *
 * The creation's Idempotency-Key is kept before the creation is sent, so that a crash between the two cannot lose a
 * session. The session's id is kept before its first part.
 */
export async function openUpload(
  store: ProfileStore,
  { work = NO_WORK, purpose }: { readonly work?: string; readonly purpose: string },
  source: SourceIdentity,
  idempotencyKey?: string,
): Promise<KeptUpload | null> {
  const upload = `${await hashOf(work)}/${await hashOf(purpose)}`;
  let lock: AsyncDisposable | null = null;
  try {
    const table = store.table(TABLE);
    lock = await store.lock(lockOf(upload), 0);
    if (lock === null) return null;
    return await StoredUpload.open(table, upload, lock, { source, idempotencyKey });
  } catch (error) {
    await lock?.[Symbol.asyncDispose]();
    if (store.cannotKeep(error)) return null;
    throw error;
  }
}

class StoredUpload implements KeptUpload {
  readonly outdated: string | null;
  readonly #table: Table;
  readonly #upload: string;
  readonly #lock: AsyncDisposable;
  #entry: Entry;
  /** Of the plan in the entry, as they were found. null: there are none, or not all of them. */
  #parts: readonly unknown[] | null;
  /** How many rows of parts there are, with the first one. */
  #partRows: number;

  private constructor(table: Table, upload: string, lock: AsyncDisposable, opened: Opened) {
    this.#table = table;
    this.#upload = upload;
    this.#lock = lock;
    this.#entry = opened.entry;
    this.#parts = opened.parts;
    this.#partRows = opened.partRows;
    this.outdated = opened.outdated;
  }

  static async open(
    table: Table,
    upload: string,
    lock: AsyncDisposable,
    { source, idempotencyKey }: { readonly source: SourceIdentity; readonly idempotencyKey: string | undefined },
  ): Promise<StoredUpload> {
    const value = await table.get(`${upload}/entry`);
    const found = value === null ? null : decodeJson(entryRow, value, "an unfinished upload");
    if (found !== null && isSame(found.source, source)) {
      const parts = await readParts(table, upload, found.begun);
      return new StoredUpload(table, upload, lock, { entry: found, ...parts, outdated: null });
    }
    await removeRows(table, upload);
    const entry = { source, idempotencyKey: idempotencyKey ?? crypto.randomUUID(), uploadId: null };
    await table.write([{ key: `${upload}/entry`, value: encodeJson(entry) }]);
    const outdated = found?.uploadId ?? null;
    return new StoredUpload(table, upload, lock, { entry, parts: null, partRows: 0, outdated });
  }

  get uploadId(): string | null {
    return this.#entry.uploadId;
  }

  get idempotencyKey(): string {
    return this.#entry.idempotencyKey;
  }

  get kept(): KeptUpload["kept"] {
    const { begun } = this.#entry;
    return begun === undefined || this.#parts === null ? null : { plan: begun.plan, parts: this.#parts };
  }

  created(uploadId: string): Promise<void> {
    return this.#write({ uploadId });
  }

  async restarted(): Promise<string> {
    await this.#write({ uploadId: null, idempotencyKey: crypto.randomUUID() });
    return this.#entry.idempotencyKey;
  }

  /** The plan, and that it has no parts yet, in one step: a plan must never go on with another one's parts. */
  async save(plan: object): Promise<void> {
    const id = crypto.randomUUID();
    const head = { key: partKey(this.#upload, 0), value: encodeJson({ begun: id }) };
    await this.#write({ begun: { id, plan } }, [...this.#partChanges(), head]);
    this.#parts = [];
    this.#partRows = 1;
  }

  async savePart(part: object): Promise<void> {
    const key = partKey(this.#upload, this.#partRows);
    this.#partRows += 1;
    await this.#table.write([{ key, value: encodeJson(part) }]);
  }

  async discard(): Promise<string | null> {
    const { uploadId } = this.#entry;
    await this.#write({ uploadId: null, idempotencyKey: crypto.randomUUID(), begun: undefined }, this.#partChanges());
    this.#parts = null;
    this.#partRows = 0;
    return uploadId;
  }

  survives(error: unknown): boolean {
    return isWorthResuming(error);
  }

  remove(): Promise<void> {
    return this.#table.write([{ key: `${this.#upload}/entry`, value: null }, ...this.#partChanges()]);
  }

  async close(): Promise<void> {
    await this.#lock[Symbol.asyncDispose]();
  }

  async #write(change: Partial<Entry>, others: readonly RowChange[] = []): Promise<void> {
    const entry = { ...this.#entry, ...change };
    await this.#table.write([{ key: `${this.#upload}/entry`, value: encodeJson(entry) }, ...others]);
    this.#entry = entry;
  }

  #partChanges(): RowChange[] {
    return Array.from({ length: this.#partRows }, (_, at) => ({ key: partKey(this.#upload, at), value: null }));
  }
}

interface Opened {
  readonly entry: Entry;
  readonly parts: readonly unknown[] | null;
  readonly partRows: number;
  readonly outdated: string | null;
}

/** Keys are in the order of the parts. */
function partKey(upload: string, at: number): string {
  return `${upload}/part ${String(at).padStart(6, "0")}`;
}

async function readParts(
  table: Table,
  upload: string,
  begun: Entry["begun"],
): Promise<Pick<Opened, "parts" | "partRows">> {
  const rows: Row[] = [];
  for await (const row of rowsOf(table, `${upload}/part `)) rows.push(row);
  const isWhole = rows.every(({ key }, at) => key === partKey(upload, at));
  const [head, ...parts] = rows.map(({ value }) => decodeJson(z.unknown(), value, "a part of an unfinished upload"));
  const of = z.safeParse(partsHead, head);
  const isOfPlan = of.success && begun !== undefined && of.data.begun === begun.id;
  const last = rows.at(-1)?.key.slice(-6) ?? "-1";
  return { parts: isWhole && isOfPlan ? parts : null, partRows: Number(last) + 1 };
}

async function removeRows(table: Table, upload: string): Promise<void> {
  const changes: RowChange[] = [];
  for await (const { key } of rowsOf(table, `${upload}/`)) changes.push({ key, value: null });
  await table.write(changes);
}

function isSame(a: SourceIdentity, b: SourceIdentity): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && a[name] === b[name]);
}

/** Connection, time limit, overload, and a key that a new sign-in replaces. An abort means that the caller gives up. */
function isWorthResuming(error: unknown): boolean {
  if (error instanceof ApiError && error.status === 401) return true;
  if (error instanceof AbortError) return error.reason instanceof Error && error.reason.name === PAUSE;
  return error instanceof SdkError && error.retryable && error.code !== "integrity_failed";
}

async function hashOf(text: string): Promise<string> {
  return toHex(await digestOf(new TextEncoder().encode(text)));
}

function lockOf(upload: string): string {
  // The work's first half is enough beside the whole purpose: names of locks are short.
  return `upload-${upload.slice(0, 32)}-${upload.slice(65)}`;
}

/**
 * Finds what no row names: contents, which go into quarantine, and bytes of uploads, which go. A crash leaves a few of them. Rows that
 * are not those of this store (a database that was lost, or is older) leave many: then nothing is touched, and an operator has to look.
 * Rows without a content cannot come from a crash (the content is durable before its row is written). They are counted and reported
 * and never touched.
 */
import { KEPT_AFTER_EXPIRY_MS } from "../features/holds/rules.ts";
import { keptFor, whyStopped } from "../features/quarantine/rules.ts";
import { countQuarantine, recordSweep, putBack, putInQuarantine } from "../features/quarantine/store.ts";
import type { StoredBlob } from "../ports/blob-store.ts";
import { BATCH, countFiles, fileHasBlob, keysIn, listFilesByBlob } from "./store.ts";
import type { JobDeps } from "./job-deps.ts";

/** Longer than any request takes from its last byte to its row. */
const SAFE_AGE = 60 * 60_000;
/** The same where the store's clock is another one, and what it began may still arrive. */
const SAFE_AGE_ELSEWHERE = 24 * SAFE_AGE;
/** Named in the log; all are counted. */
const NAMED = 20;
/** As many as one pass takes; the next one goes on. All are counted. */
const TAKEN_AT_MOST = 100_000;

type Sweeping = Pick<JobDeps, "database" | "blobs" | "clock" | "log" | "settings" | "runningTime">;

export interface SweepOptions {
  readonly signal?: AbortSignal;
  /** `look`: nothing is touched or noted. `confirmed`: an operator has looked, and the orphans are taken however many they are. */
  readonly as?: "look" | "confirmed";
}

/** What a pass over the store found. */
export interface Found {
  /** Complete contents, and those that files or kept versions name. */
  readonly contents: number;
  readonly named: number;
  /** Complete contents, old enough to be taken, that no row names. */
  readonly orphans: number;
  readonly orphanBytes: number;
  /** Those of passes of the last seven days, which lie in quarantine. */
  readonly before: number;
  /** Bytes of uploads that no row names. */
  readonly partials: number;
  /** Why nothing is taken; null: nothing speaks against it. */
  readonly stopped: string | null;
}

export interface Swept {
  readonly orphans: number;
  readonly partials: number;
  readonly putBack: number;
  readonly dangling: number;
  readonly stopped: number;
}

const NOTHING: Swept = { orphans: 0, partials: 0, putBack: 0, dangling: 0, stopped: 0 };

export async function sweepOrphans(deps: Sweeping, options: SweepOptions = {}): Promise<Swept & { found?: Found }> {
  if (options.as === undefined && (await deps.runningTime.doubt()) !== null) return NOTHING;
  const rows = await countFiles(deps.database);
  const pass = await readStore(deps, options);
  if (pass === null) return NOTHING;
  const { found, filesFound, back } = pass;
  if (options.as === "look") return { ...NOTHING, found };
  const stopped = options.as === undefined ? found.stopped : null;
  const noted = { at: deps.clock.now(), contents: found.contents, orphans: found.orphans };
  await deps.database.transaction((transaction) =>
    recordSweep(transaction, { ...noted, stopped: stopped === null ? 0 : 1 }),
  );
  if (stopped !== null) tellStopped(deps, stopped, pass);
  // Every row counted before the listing has its blob in the listing, or was deleted meanwhile: then look closely.
  const dangling = filesFound < rows ? await reportDangling(deps, options.signal) : 0;
  const isTaken = stopped === null;
  return {
    orphans: isTaken ? await quarantineAll(deps, pass.orphans, options.as === "confirmed" ? "confirmed" : "orphan") : 0,
    partials: isTaken ? await discardAll(deps, pass.partials) : 0,
    putBack: back,
    dangling,
    stopped: isTaken ? 0 : 1,
    found,
  };
}

interface Pass {
  readonly found: Found;
  readonly filesFound: number;
  /** How many were put back from the quarantine. */
  readonly back: number;
  readonly orphans: readonly StoredBlob[];
  readonly partials: readonly StoredBlob[];
}

/** null: the signal ended it. Contents that rows name leave the quarantine on the way. */
async function readStore(deps: Sweeping, { signal, as }: SweepOptions): Promise<Pass | null> {
  const newest = candidatesUpTo(deps);
  const count = { contents: 0, named: 0, orphans: 0, orphanBytes: 0, partials: 0 };
  const [orphans, partials]: [StoredBlob[], StoredBlob[]] = [[], []];
  let [filesFound, back] = [0, 0];
  for await (const batch of batches(deps.blobs.list(), BATCH)) {
    if (signal?.aborted === true) return null;
    const known = await classify(deps, batch);
    filesFound += known.filesFound;
    count.contents += batch.filter((blob) => blob.complete).length;
    count.named += known.named.length;
    if (as !== "look" && known.named.some((key) => known.quarantined.has(key)))
      back += await deps.database.transaction((transaction) => putBack(transaction, known.named));
    for (const blob of known.orphans) {
      if (blob.modifiedAt > (blob.complete ? newest.contents : newest.partials)) continue;
      const taken = blob.complete ? orphans : partials;
      if (blob.complete) count.orphanBytes += blob.size;
      count[blob.complete ? "orphans" : "partials"] += 1;
      if (taken.length < TAKEN_AT_MOST) taken.push(blob);
    }
  }
  const before = await countQuarantine(deps.database, "orphan");
  const found = { ...count, before, stopped: whyStopped({ ...count, before }) };
  return { found, filesFound, back, orphans, partials };
}

/**
 * A content may be waiting for its row in a running request, so only old ones are candidates. Bytes of an upload are none as long as the
 * upload could go on, with rows that an operator puts back.
 */
function candidatesUpTo({ blobs, clock, settings }: Sweeping): {
  readonly contents: number;
  readonly partials: number;
} {
  const age = blobs.capabilities.sharesClock ? SAFE_AGE : SAFE_AGE_ELSEWHERE;
  const lifetime = settings.timing.uploadLifetime + KEPT_AFTER_EXPIRY_MS;
  return { contents: clock.now() - age, partials: clock.now() - Math.max(age, lifetime) };
}

async function classify(deps: Sweeping, batch: readonly StoredBlob[]) {
  const keys = batch.map((blob) => blob.key);
  const [files, versions, uploads, deletions, quarantined] = await Promise.all([
    keysIn(deps.database, "files", keys),
    keysIn(deps.database, "file_versions", keys),
    keysIn(deps.database, "uploads", keys),
    keysIn(deps.database, "blob_deletions", keys),
    keysIn(deps.database, "blob_quarantine", keys),
  ]);
  const isNamed = (blob: StoredBlob): boolean => blob.complete && (files.has(blob.key) || versions.has(blob.key));
  // A queued deletion has its own time; a partial belongs to an upload alone.
  const isKnown = (blob: StoredBlob): boolean =>
    isNamed(blob) || uploads.has(blob.key) || deletions.has(blob.key) || quarantined.has(blob.key);
  return {
    orphans: batch.filter((blob) => !isKnown(blob)),
    named: batch.filter(isNamed).map((blob) => blob.key),
    quarantined,
    filesFound: batch.filter((blob) => blob.complete && files.has(blob.key)).length,
  };
}

function tellStopped(deps: Sweeping, why: string, { found, orphans }: Pass): void {
  const { contents, orphans: count, orphanBytes, before } = found;
  deps.log.error(
    { contents, orphans: count, orphanBytes, before, blobKeys: orphans.slice(0, NAMED).map((blob) => blob.key) },
    `the sweep stopped, and took nothing: ${why}. Is this the database of this store? ` +
      "`coffer-server sweep --dry-run` shows what it found, `coffer-server sweep` takes it",
  );
}

async function quarantineAll(
  deps: Sweeping,
  orphans: readonly StoredBlob[],
  reason: "orphan" | "confirmed",
): Promise<number> {
  const ends = (await deps.runningTime.total()) + keptFor(reason);
  const since = deps.clock.now();
  for (let at = 0; at < orphans.length; at += BATCH) {
    const rows = orphans.slice(at, at + BATCH).map(({ key, size }) => ({
      blob_key: key,
      reason,
      account_id: null,
      bytes: size,
      since,
      ends,
      deleting: 0,
    }));
    await deps.database.transaction((transaction) => putInQuarantine(transaction, rows), { freesSpace: true });
  }
  return orphans.length;
}

async function discardAll(deps: Sweeping, partials: readonly StoredBlob[]): Promise<number> {
  let discarded = 0;
  for (const { key } of partials)
    try {
      await deps.blobs.discard(key);
      discarded += 1;
    } catch (error) {
      deps.log.error({ err: error, blobKey: key }, "bytes of an upload could not be removed");
    }
  return discarded;
}

/** Looks every row's blob up, and the row again where there is none: it may have been deleted in between. */
export async function reportDangling(deps: Sweeping, signal: AbortSignal | undefined): Promise<number> {
  const ids: string[] = [];
  let after = "";
  while (signal?.aborted !== true) {
    const rows = await listFilesByBlob(deps.database, after);
    for (const { id, blob_key: blobKey } of rows) {
      if ((await deps.blobs.open(blobKey, { offset: 0, length: 0 })) !== null) continue;
      if (await fileHasBlob(deps.database, id, blobKey)) ids.push(id);
    }
    if (rows.length < BATCH) break;
    after = rows.at(-1)?.blob_key ?? after;
  }
  if (ids.length > 0) deps.log.error({ count: ids.length, fileIds: ids.slice(0, NAMED) }, "files without content");
  return ids.length;
}

async function* batches<Item>(items: AsyncIterable<Item>, size: number): AsyncGenerator<Item[]> {
  let batch: Item[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

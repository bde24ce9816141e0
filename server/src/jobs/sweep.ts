/**
 * Finds and removes what a crash left behind: blobs without a row. Rows without a blob cannot come from a crash (the
 * blob is durable before its row is written). They are counted and reported and never touched.
 */
import type { StoredBlob } from "../ports/blob-store.ts";
import { BATCH, countFiles, fileHasBlob, keysIn, listFilesByBlob } from "./store.ts";
import type { JobDeps } from "./job-deps.ts";

/** Longer than any request takes from its last byte to its row. */
const SAFE_AGE = 60 * 60_000;
/** The same where the store's clock is another one, and what it began may still arrive. */
const SAFE_AGE_ELSEWHERE = 24 * SAFE_AGE;
/** Named in the log; all are counted. */
const DANGLING_NAMED = 20;

type Sweeping = Pick<JobDeps, "database" | "blobs" | "clock" | "log">;

export interface SweepOptions {
  /** Processes that have ended wrote everything modified by then; null: unknown. Milliseconds since the Unix epoch. */
  readonly leftBefore: number | null;
  readonly signal?: AbortSignal;
}

/**
 * A blob may be waiting for its row in a running request, so only old ones are candidates, and those of processes that have ended.
 */
export async function sweepOrphans(
  deps: Sweeping,
  options: SweepOptions,
): Promise<{ orphans: number; dangling: number }> {
  const newest = deps.blobs.capabilities.sharesClock
    ? (options.leftBefore ?? deps.clock.now() - SAFE_AGE)
    : deps.clock.now() - SAFE_AGE_ELSEWHERE;
  const rows = await countFiles(deps.database);
  let orphans = 0;
  let filesFound = 0;
  for await (const batch of batches(deps.blobs.list(), BATCH)) {
    if (options.signal?.aborted === true) return { orphans, dangling: 0 };
    const known = await classify(deps, batch);
    filesFound += known.filesFound;
    const candidates = known.orphans.filter((blob) => blob.modifiedAt <= newest);
    for (const blob of candidates) if (await remove(deps, blob)) orphans += 1;
  }
  // Every row counted before the listing has its blob in the listing, or was deleted meanwhile: then look closely.
  const dangling = filesFound < rows ? await reportDangling(deps, options.signal) : 0;
  return { orphans, dangling };
}

async function classify(
  deps: Sweeping,
  batch: readonly StoredBlob[],
): Promise<{ orphans: StoredBlob[]; filesFound: number }> {
  const keys = batch.map((blob) => blob.key);
  const [files, uploads, deletions, versions] = await Promise.all(
    (["files", "uploads", "blob_deletions", "file_versions"] as const).map((table) =>
      keysIn(deps.database, table, keys),
    ),
  );
  // A queued deletion has its own time; a partial belongs to an upload alone.
  const isKnown = (blob: StoredBlob): boolean =>
    uploads?.has(blob.key) === true ||
    deletions?.has(blob.key) === true ||
    (blob.complete && (files?.has(blob.key) === true || versions?.has(blob.key) === true));
  return {
    orphans: batch.filter((blob) => !isKnown(blob)),
    filesFound: batch.filter((blob) => blob.complete && files?.has(blob.key) === true).length,
  };
}

async function remove(deps: Sweeping, blob: StoredBlob): Promise<boolean> {
  try {
    await (blob.complete ? deps.blobs.delete(blob.key) : deps.blobs.discard(blob.key));
    return true;
  } catch (error) {
    deps.log.error({ err: error, blobKey: blob.key }, "an orphan could not be removed");
    return false;
  }
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
  if (ids.length > 0)
    deps.log.error({ count: ids.length, fileIds: ids.slice(0, DANGLING_NAMED) }, "files without content");
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

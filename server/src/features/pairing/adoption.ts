/** What an operator sees of rows and store before saying that they belong together, and what is written then. */
import type { BlobStore } from "../../ports/blob-store.ts";
import type { Database } from "../../ports/database.ts";
import type { StoreMarkRow } from "../../ports/store-mark-tables.ts";
import { parseMark, renderMark, type StoreMark } from "./mark.ts";
import type { Paired, Pairing } from "./pairing.ts";
import { countNamed, findMarkRow, putMarkRow, sortKeys } from "./store.ts";

/** A server renews the mark every ten minutes: one that missed three of them is not running. Milliseconds. */
const SILENT_FOR = 30 * 60_000;
/** Keys of one query. */
const BATCH = 200;

export interface PairFound {
  readonly row: StoreMarkRow | null;
  /** As it is in the store; null: it has none. */
  readonly text: string | null;
  readonly mark: StoreMark | null;
}

export async function findPair({ database, blobs }: Paired): Promise<PairFound> {
  const text = await blobs.readMark();
  const mark = text === null ? null : readable(text);
  return { row: await findMarkRow(database), text, mark };
}

/** A mark that cannot be read is replaced as well. */
function readable(text: string): StoreMark | null {
  try {
    return parseMark(text);
  } catch {
    return null;
  }
}

/** When the server of another database may have stopped; null: none has renewed the mark lately. Milliseconds since the Unix epoch. */
export function busyUntil({ row, mark }: PairFound, now: number): number | null {
  if (mark === null || (row !== null && [row.token, row.previous_token].includes(mark.token))) return null;
  return Math.abs(now - mark.renewedAt) < SILENT_FOR ? mark.renewedAt + SILENT_FOR : null;
}

export interface ContentsFound {
  /** In the store, and rows name them as contents. */
  readonly named: number;
  /** In the store, and nothing knows them. */
  readonly unknown: number;
  /** Rows name them, and they are not in the store. */
  readonly missing: number;
}

export async function countContents(database: Database, blobs: BlobStore): Promise<ContentsFound> {
  const total = { named: 0, unknown: 0 };
  const count = async (keys: readonly string[]): Promise<void> => {
    const { named, known } = await sortKeys(database, keys);
    total.named += keys.filter((key) => named.has(key)).length;
    total.unknown += keys.filter((key) => !named.has(key) && !known.has(key)).length;
  };
  let batch: string[] = [];
  for await (const { key, complete } of blobs.list()) {
    if (complete) batch.push(key);
    if (batch.length < BATCH) continue;
    await count(batch);
    batch = [];
  }
  if (batch.length > 0) await count(batch);
  return { ...total, missing: Math.max(0, (await countNamed(database)) - total.named) };
}

/**
 * Both get a new token. The store keeps its id; one without a mark gets a new id, so that the one that these rows knew before is
 * another's from then on. False: somebody has renewed the mark since it was found, and deletion stays stopped.
 */
export async function takeOver(
  { database, blobs, clock, random }: Pairing,
  { text, mark }: PairFound,
): Promise<boolean> {
  const [token, now] = [random.uuid(), clock.now()];
  const storeId = mark?.storeId ?? random.uuid();
  const row = { store_id: storeId, token, previous_token: mark?.token ?? null, renewed_at: now, stopped: null };
  await putMarkRow(database, row);
  if (await blobs.replaceMark(text, renderMark({ storeId, token, renewedAt: now, contested: false }))) return true;
  await putMarkRow(database, { ...row, previous_token: null, stopped: "another-database" });
  return false;
}

/**
 * Rows and contents belong together, and nothing but a mark on both says so. A server that starts on others than its own refuses.
 * Whoever deletes in the store asks first whether its rows are the newest ones that know the store: deleted is what rows do not name,
 * and older rows, or those of a clone, name less than there is.
 */
import type { BlobStore } from "../../ports/blob-store.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";
import type { Random } from "../../ports/random.ts";
import type { StoreMarkRow } from "../../ports/store-mark-tables.ts";
import { parseMark, renderMark, type StoreMark } from "./mark.ts";
import { confirmMark, findMarkRow, recordStopped, proposeMark, renewMarkRow, sampleContents } from "./store.ts";

/** How often the token is renewed. Milliseconds. */
export const RENEW_EVERY = 10 * 60_000;
/** Tokens whose times are further apart are not of two servers that run side by side. */
const ASUNDER = 2 * RENEW_EVERY;

export interface Paired {
  readonly database: Database;
  readonly blobs: BlobStore;
  /** Where both are, for people, without secrets. */
  readonly places: { readonly rows: string; readonly contents: string };
}

export type Pairing = Paired & { readonly clock: Pick<Clock, "now">; readonly random: Pick<Random, "uuid"> };

/** Rows and store do not belong together. The message says why, and what to do. */
export class PairingError extends Error {
  override readonly name = "PairingError";
}

/** Why nothing may be deleted. */
export type Doubt = "another-database" | "older-rows" | "older-store" | "no-mark";

/**
 * Pairs new rows with an empty store, and rows from before there were marks with the store that has their contents. For rows that
 * know their store it finds out whether it is this one. Several processes may begin at once.
 * @throws PairingError when a server must not start on them.
 */
export async function requirePair(pairing: Pairing): Promise<void> {
  const { database, blobs, places } = pairing;
  const mark = await readMark(blobs);
  const row = await findMarkRow(database);
  if (row === null || row.renewed_at === null) return pairFirst(pairing, row, mark);
  if (mark !== null && mark.storeId !== row.store_id) throw anothers(places);
  if (mark !== null) return;
  if (await isStoreEmpty(blobs)) {
    const known = `${places.rows} knows a store with contents, and ${places.contents} is empty`;
    throw new PairingError(
      `${known}: is it mounted, and do the settings name the right place? If it is to be empty, run coffer-server adopt`,
    );
  }
  // What lost its mark alone is served, and nothing is deleted in it.
  if (!(await hasMostContents(pairing))) throw anothers(places);
}

async function pairFirst(pairing: Pairing, found: StoreMarkRow | null, mark: StoreMark | null): Promise<void> {
  const { database, blobs, places } = pairing;
  const namesContents = (await sampleContents(database)).length > 0;
  // A mark of others: theirs is the store, whatever is in it.
  const isTaken = found === null && mark !== null;
  if (!namesContents && (isTaken || (mark === null && !(await isStoreEmpty(blobs))))) {
    const unknown = `${places.rows} is new, and ${places.contents} ${isTaken ? "belongs to another database" : "has contents"}`;
    throw new PairingError(
      `${unknown}: put the rows of these contents back, or name the right database. If these rows are right, run coffer-server adopt`,
    );
  }
  if (isTaken) throw anothers(places);
  if (mark === null && namesContents && !(await hasMostContents(pairing))) {
    const missing = `Most contents that ${places.rows} names are not in ${places.contents}`;
    throw new PairingError(
      `${missing}: is it mounted, and do the settings name the right place? If they belong together, run coffer-server adopt`,
    );
  }
  if (!(await claimStore(pairing, null))) throw anothers(places);
}

/**
 * Notes a new id in the rows and then in the store, in the place of `before`. What an earlier call began, or another process at
 * the same time, counts as well. False: the store has another mark.
 */
export async function claimStore(
  { database, blobs, clock, random }: Omit<Pairing, "places">,
  before: string | null,
): Promise<boolean> {
  const row = await proposeMark(database, { store_id: random.uuid(), token: random.uuid() });
  const proposed = { storeId: row.store_id, token: row.token, renewedAt: clock.now(), contested: false };
  const isWritten = await blobs.replaceMark(before, renderMark(proposed));
  const mark = isWritten ? proposed : await readMark(blobs);
  if (mark === null || mark.storeId !== row.store_id) return false;
  await confirmMark(database, row, clock.now());
  return true;
}

/** Why nothing may be deleted in the store; null: it may. Asked before each pass, and when the token is renewed. */
export async function findDoubt(pairing: Pairing): Promise<Doubt | null> {
  return (await checkPair(pairing)).doubt;
}

/**
 * A new token, first in the rows and then in the store: a crash in between leaves the token that the rows had before.
 * @param holding ends when another process may have the jobs.
 */
export async function renewMark(pairing: Pairing, holding: AbortSignal): Promise<Doubt | null> {
  const { database, blobs, clock, random } = pairing;
  const { row, text, mark, doubt } = await checkPair(pairing);
  if (doubt !== null || row === null || text === null || mark === null) return doubt;
  const [token, now] = [random.uuid(), clock.now()];
  const renewed = { token, previous_token: mark.token, renewed_at: now, from: row.token };
  if (!(await renewMarkRow(database, renewed)) || holding.aborted) return null;
  if (await blobs.replaceMark(text, renderMark({ ...mark, token, renewedAt: now }))) return null;
  if ((await blobs.readMark()) === text) throw new Error(`${pairing.places.contents} does not replace its mark`);
  return findDoubt(pairing);
}

interface PairReading {
  readonly row: StoreMarkRow | null;
  readonly text: string | null;
  readonly mark: StoreMark | null;
  readonly doubt: Doubt | null;
}

/** Once there is doubt it stays, and all processes know it. */
async function checkPair(pairing: Pairing): Promise<PairReading> {
  const first = await readPair(pairing);
  if (first.row === null || first.row.renewed_at === null) {
    // The store was away when the server started.
    await requirePair(pairing);
    return readPair(pairing);
  }
  if (first.doubt === null || first.row.stopped !== null) return first;
  // Another process may have renewed both between the two reads.
  const second = await readPair(pairing);
  if (second.doubt !== null) await stop(pairing, second, second.doubt);
  return second;
}

async function readPair({ database, blobs }: Pairing): Promise<PairReading> {
  const text = await blobs.readMark();
  const mark = text === null ? null : parseMark(text);
  // After the store's: the rows are renewed first.
  const row = await findMarkRow(database);
  return { row, text, mark, doubt: row === null ? null : doubtOf(row, mark) };
}

export function doubtOf(row: StoreMarkRow, mark: StoreMark | null): Doubt | null {
  if (row.stopped !== null) return row.stopped as Doubt;
  if (mark === null) return "no-mark";
  if (mark.storeId !== row.store_id || mark.contested) return "another-database";
  if (mark.token === row.token || mark.token === row.previous_token) return null;
  const later = mark.renewedAt - (row.renewed_at ?? 0);
  if (later > ASUNDER) return "older-rows";
  return later < -ASUNDER ? "older-store" : "another-database";
}

/** The other database cannot know that these rows had the store too, so the store says it. */
async function stop({ database, blobs }: Pairing, { row, text, mark }: PairReading, doubt: Doubt): Promise<void> {
  const isClone = doubt === "another-database" && mark !== null && mark.storeId === row?.store_id;
  if (isClone && !mark.contested) await blobs.replaceMark(text, renderMark({ ...mark, contested: true }));
  await recordStopped(database, doubt);
}

/** For the log: what was found, where, and what to do. */
export function explainDoubt(doubt: Doubt, { rows, contents }: Paired["places"]): string {
  const adopt = "until an operator runs coffer-server adopt";
  switch (doubt) {
    case "another-database":
      return `Another database is writing here: ${contents} has a mark that ${rows} has not made. Stop the server of the other one. Nothing is deleted ${adopt} with the settings of the right one`;
    case "older-rows":
      return `These rows are older than the store: ${rows} does not know the newest mark of ${contents}. Put the newest rows back. Nothing is deleted with these ${adopt}`;
    case "older-store":
      return `The store is older than these rows: ${contents} has a mark that ${rows} has replaced long ago. Put the newest contents back. Nothing is deleted in these ${adopt}`;
    case "no-mark":
      return `The store has lost its mark: ${contents} has contents of ${rows}, and may be a copy. Nothing is deleted in it ${adopt}`;
  }
}

export async function readMark(blobs: BlobStore): Promise<StoreMark | null> {
  const text = await blobs.readMark();
  return text === null ? null : parseMark(text);
}

/** Rows of partial blobs may be all that a driver finds of them. */
export async function isStoreEmpty(blobs: BlobStore): Promise<boolean> {
  for await (const { complete } of blobs.list()) if (complete) return false;
  return true;
}

async function hasMostContents({ database, blobs }: Pairing): Promise<boolean> {
  const keys = await sampleContents(database);
  let found = 0;
  for (const key of keys) if ((await blobs.open(key, { offset: 0, length: 0 })) !== null) found += 1;
  return found * 2 >= keys.length;
}

function anothers({ rows, contents }: Paired["places"]): PairingError {
  return new PairingError(
    `${contents} belongs to another database than ${rows}: name the right one of both. If they belong together, run coffer-server adopt`,
  );
}

/**
 * All data from one storage to another, with nobody at work on either. Each step finds what an earlier try has done, so a move
 * that was broken off goes on. Only when everything was read back and compared does the old storage give up its place.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { BlobStore } from "../../ports/blob-store.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";
import { type Lease, openLeases } from "../../ports/leases.ts";
import type { Random } from "../../ports/random.ts";
import { claimStore, isStoreEmpty } from "../pairing/pairing.ts";
import { copyContents, listContents, verifyContents } from "./blobs.ts";
import { progressOf } from "./progress.ts";
import { copyRows, countRows, digestRows } from "./rows-store.ts";
import { endMove, findMove, putMove } from "./state.ts";
import { MOVED } from "./tables.ts";

export interface Side {
  readonly database: Database;
  readonly blobs: BlobStore;
  /** For people, without secrets. */
  readonly place: string;
}

export interface Moving {
  readonly from: Side;
  readonly to: Side;
  /** Both have the same contents already: only rows move. */
  readonly sharesBlobs: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly say: (line: string) => void;
  /** How long a server takes at most to ask for the lease of its jobs. */
  readonly patience?: number;
}

/** A move that cannot go on. The message says why. */
export class MoveError extends Error {
  override readonly name = "MoveError";
}

export interface Moved {
  readonly rows: number;
  readonly contents: number;
}

const ASKED_WITHIN = 6_000;

export async function moveAll(moving: Moving): Promise<Moved> {
  const lease = await holdStill(moving);
  try {
    await copyAll(moving);
    const rows = await compareRows(moving);
    const contents = await compareContents(moving);
    if (!(await lease.renew()))
      throw new MoveError("A server has started on the old storage meanwhile: stop it, and move again");
    await finish(moving);
    return { rows, contents };
  } finally {
    await lease.release();
  }
}

/** The old storage serves again, if it has not been left. */
export async function cancelMove({ database }: Pick<Side, "database">): Promise<boolean> {
  const move = await findMove(database);
  if (move?.state !== "leaving") return false;
  await endMove(database);
  return true;
}

/** Nobody writes to either side from here on. */
async function holdStill({
  from,
  to,
  sharesBlobs,
  clock,
  random,
  say,
  patience = ASKED_WITHIN,
}: Moving): Promise<Lease> {
  const leaving = await findMove(from.database);
  if (leaving?.state === "left") throw new MoveError(`The data have moved to ${leaving.other} already`);
  if (leaving?.state === "arriving")
    throw new MoveError(`The data of ${from.place} are not complete: finish the move from ${leaving.other} first`);
  const id = leaving?.id ?? random.uuid();
  const arriving = await findMove(to.database);
  const isOurs = arriving?.state === "arriving" && arriving.id === id;
  if (!isOurs && (arriving !== null || !(await isEmpty(to.database))))
    throw new MoveError(`${to.place} has data of its own: name a new database, and a new prefix or directory`);
  if (!sharesBlobs) await requireNewStore(to, { clock, random });
  await putMove(from.database, { id, state: "leaving", other: to.place, at: clock.now() });
  await putMove(to.database, { id, state: "arriving", other: from.place, at: clock.now() });
  say("looks for servers that still run on the old storage");
  // One that runs has the lease of its jobs, or asks for it by then.
  await pause(patience);
  const lease = await openLeases({ database: from.database, clock, random }).acquire("jobs");
  if (lease !== null) return lease;
  await endMove(from.database);
  throw new MoveError(
    "A server is running on the old storage, or was killed less than 35 seconds ago: stop it, wait, and move again",
  );
}

/** The new pair has an id of its own from the beginning on, so that a try that was broken off is recognised. */
export async function requireNewStore(to: Side, parts: Pick<Moving, "clock" | "random">): Promise<void> {
  const isNew = (await to.blobs.readMark()) !== null || (await isStoreEmpty(to.blobs));
  if (!isNew || !(await claimStore({ ...to, ...parts }, null)))
    throw new MoveError(`The store of ${to.place} has contents of its own: name a new prefix or directory`);
}

export async function isEmpty(database: Database): Promise<boolean> {
  for (const table of MOVED) if ((await countRows(database, table)) > 0) return false;
  return true;
}

async function copyAll({ from, to, sharesBlobs, say }: Moving): Promise<void> {
  if (!sharesBlobs) {
    const progress = progressOf(say, "contents");
    const copied = await copyContents(listContents(from.database), from.blobs, to.blobs, { told: progress.content });
    say(`${String(copied.copied)} contents copied (${String(copied.bytes)} bytes), ${String(copied.found)} were there`);
  }
  for (const table of MOVED) {
    const progress = progressOf(say, table.name);
    const sent = await copyRows(from.database, to.database, table, progress.rows);
    if (sent > 0) say(`${table.name}: ${String(sent)} rows copied`);
  }
}

async function compareRows({ from, to, say }: Moving): Promise<number> {
  let rows = 0;
  for (const table of MOVED) {
    const [old, fresh] = await Promise.all([digestRows(from.database, table), digestRows(to.database, table)]);
    if (old.rows !== fresh.rows || old.digest !== fresh.digest)
      throw new MoveError(
        `${table.name} differs: ${String(old.rows)} rows in the old database and ${String(fresh.rows)} in the new one. Empty the new one, and move again`,
      );
    rows += old.rows;
  }
  say(`${String(rows)} rows are the same on both sides`);
  return rows;
}

async function compareContents({ from, to, say }: Moving): Promise<number> {
  const progress = progressOf(say, "contents read back");
  const verified = await verifyContents(listContents(from.database), to.blobs, progress.content);
  say(`${String(verified)} contents are whole in the new store`);
  return verified;
}

/** The old one first: if the process ends in between, no server serves until the move is finished. */
async function finish({ from, to, sharesBlobs, clock, random }: Moving): Promise<void> {
  const move = await findMove(from.database);
  if (move === null) throw new MoveError("The move was cancelled meanwhile");
  // From here on the store is not that of the rows that stay behind, whoever puts them back.
  if (sharesBlobs && !(await claimStore({ ...to, clock, random }, await to.blobs.readMark())))
    throw new MoveError(
      "Another database has renewed the mark of the store meanwhile: stop its server, and move again",
    );
  await putMove(from.database, { ...move, state: "left", at: clock.now() });
  await endMove(to.database);
}

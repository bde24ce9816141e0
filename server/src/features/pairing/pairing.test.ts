import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { inChunks } from "../../../../test/kit/bytes.ts";
import { ManualClock } from "../../../../test/kit/clock.ts";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import { fileRow, insertAccount } from "../../../../test/kit/rows.ts";
import { type BlobStore, BlobStoreAwayError } from "../../ports/blob-store.ts";
import type { Database } from "../../ports/database.ts";
import { systemRandom } from "../../ports/random.ts";
import type { StoreMarkRow } from "../../ports/store-mark-tables.ts";
import { openMemoryBlobs, openTestDatabase } from "../../storage.test-kit.ts";
import { takeOver, busyUntil, countContents, findPair } from "./adoption.ts";
import { parseMark, renderMark } from "./mark.ts";
import { doubtOf, findDoubt, type Pairing, PairingError, readMark, renewMark, requirePair } from "./pairing.ts";
import { findMarkRow, putMarkRow } from "./store.ts";

const MINUTE = 60_000;
const places = { rows: "the rows", contents: "the store" };
const holding = new AbortController().signal;

let clock: ManualClock;
beforeEach(() => {
  clock = new ManualClock();
});

async function openRows(): Promise<Database> {
  const database = await openTestDatabase(makeDirectory());
  onTestFinished(() => database[Symbol.asyncDispose]());
  return database;
}

function pairingOf(database: Database, blobs: BlobStore): Pairing {
  return { database, blobs, places, clock, random: systemRandom };
}

async function openPairing(blobs: BlobStore = openMemoryBlobs({ clock })): Promise<Pairing> {
  return pairingOf(await openRows(), blobs);
}

/** Files of one account; those of `lost` have no content in the store. */
async function addFiles({ database, blobs }: Pairing, count: number, lost = 0): Promise<void> {
  const { accountId, vaultId } = await insertAccount(database);
  for (let at = 0; at < count; at += 1) {
    const blobKey = randomUUID();
    const place = { account_id: accountId, vault_id: vaultId };
    await database.run(
      database.build.insertInto("files").values(fileRow({ ...place, blob_key: blobKey, name: `f-${String(at)}` })),
    );
    if (at >= lost) await blobs.put(blobKey, inChunks(Buffer.from("content")));
  }
}

async function addOrphan(blobs: BlobStore): Promise<void> {
  await blobs.put(randomUUID(), inChunks(Buffer.from("content")));
}

/** The rows as they are now, in a database of their own. */
async function cloneRow(from: Pairing): Promise<Pairing> {
  const clone = await openPairing(from.blobs);
  const row = await findMarkRow(from.database);
  if (row !== null) await putMarkRow(clone.database, row);
  return clone;
}

describe("a start", () => {
  it("pairs new rows with an empty store, once, and a second process finds them paired", async () => {
    const pairing = await openPairing();
    await Promise.all([requirePair(pairing), requirePair(pairing)]);
    const row = await findMarkRow(pairing.database);
    const mark = await readMark(pairing.blobs);
    expect(mark).toEqual({
      storeId: row?.store_id,
      token: row?.token,
      renewedAt: row?.renewed_at,
      contested: false,
    });
    await requirePair(pairing);
    expect(await readMark(pairing.blobs)).toEqual(mark);
    expect(await findDoubt(pairing)).toBeNull();
  });

  it("goes on where a killed one had noted the mark in the rows, or in the store as well", async () => {
    const pairing = await openPairing();
    const breaking = pairingOf(
      pairing.database,
      changed(pairing.blobs, { replaceMark: () => Promise.reject(new Error("killed")) }),
    );
    await expect(requirePair(breaking)).rejects.toThrow("killed");
    const proposed = await findMarkRow(pairing.database);
    expect(proposed?.renewed_at).toBeNull();
    const { store_id: storeId = "", token = "" } = proposed ?? {};
    await pairing.blobs.replaceMark(null, renderMark({ storeId, token, renewedAt: 1, contested: false }));
    await requirePair(pairing);
    expect((await findMarkRow(pairing.database))?.renewed_at).toBe(clock.now());
    expect(await findDoubt(pairing)).toBeNull();
  });

  it("refuses new rows over a store that has contents, or the mark of others", async () => {
    const full = await openPairing();
    await addOrphan(full.blobs);
    await expect(requirePair(full)).rejects.toThrow("the rows is new, and the store has contents");
    const first = await openPairing();
    await requirePair(first);
    await expect(requirePair(await openPairing(first.blobs))).rejects.toThrow("belongs to another database");
  });

  it("pairs rows from before there were marks with the store of most of their contents, and with no other", async () => {
    const mine = await openPairing();
    await addFiles(mine, 5, 2);
    await addOrphan(mine.blobs);
    await requirePair(mine);
    expect(await findDoubt(mine)).toBeNull();
    const others = await openPairing();
    await addFiles(others, 5, 3);
    await expect(requirePair(others)).rejects.toThrow("Most contents that the rows names are not in the store");
    expect(await findMarkRow(others.database)).toBeNull();
    expect(await readMark(others.blobs)).toBeNull();
  });

  it("refuses rows that know a store over an empty one and over another's", async () => {
    const mine = await openPairing();
    await requirePair(mine);
    const empty = pairingOf(mine.database, openMemoryBlobs({ clock }));
    await expect(requirePair(empty)).rejects.toThrow("the store is empty: is it mounted");
    const other = await openPairing();
    await requirePair(other);
    await expect(requirePair(pairingOf(mine.database, other.blobs))).rejects.toThrow(PairingError);
    const copied = await openPairing();
    await addOrphan(copied.blobs);
    await addFiles(mine, 2);
    await expect(requirePair(pairingOf(mine.database, copied.blobs))).rejects.toThrow("belongs to another database");
  });

  it("serves a copy of the contents without a mark, and deletes nothing there", async () => {
    const mine = await openPairing();
    await addFiles(mine, 3);
    await requirePair(mine);
    const unmarked = pairingOf(mine.database, changed(mine.blobs, { readMark: () => Promise.resolve(null) }));
    await requirePair(unmarked);
    expect(await findDoubt(unmarked)).toBe("no-mark");
    expect(await findDoubt(mine)).toBe("no-mark");
  });

  it("that found the store away pairs them before anything is deleted, or deletes nothing", async () => {
    const pairing = await openPairing();
    let isAway = true;
    const away = changed(pairing.blobs, {
      readMark: () => (isAway ? Promise.reject(new BlobStoreAwayError("away")) : pairing.blobs.readMark()),
    });
    const late = pairingOf(pairing.database, away);
    await expect(requirePair(late)).rejects.toThrow(BlobStoreAwayError);
    await expect(findDoubt(late)).rejects.toThrow(BlobStoreAwayError);
    isAway = false;
    await addOrphan(pairing.blobs);
    await expect(findDoubt(late)).rejects.toThrow(PairingError);
    await addFiles(late, 1);
    expect(await findDoubt(late)).toBeNull();
  });
});

describe("a renewal", () => {
  it("gives both a new token, and the one before is still known", async () => {
    const pairing = await openPairing();
    await requirePair(pairing);
    const before = await findMarkRow(pairing.database);
    clock.advance(10 * MINUTE);
    expect(await renewMark(pairing, holding)).toBeNull();
    const row = await findMarkRow(pairing.database);
    expect(row).toMatchObject({ previous_token: before?.token, renewed_at: clock.now(), stopped: null });
    expect((await readMark(pairing.blobs))?.token).toBe(row?.token);
  });

  it("that ends between the rows and the store, ever again, leaves both of one mind", async () => {
    const pairing = await openPairing();
    await requirePair(pairing);
    const breaking = pairingOf(
      pairing.database,
      changed(pairing.blobs, { replaceMark: () => Promise.reject(new Error("killed")) }),
    );
    for (let times = 0; times < 3; times += 1) {
      clock.advance(10 * MINUTE);
      await expect(renewMark(breaking, holding)).rejects.toThrow("killed");
      expect(await findDoubt(pairing)).toBeNull();
    }
    expect(await renewMark(pairing, holding)).toBeNull();
    expect((await readMark(pairing.blobs))?.token).toBe((await findMarkRow(pairing.database))?.token);
  });

  it("by another process of the database, between two reads, is no doubt", async () => {
    const pairing = await openPairing();
    await requirePair(pairing);
    let renewals = 0;
    const racing = changed(pairing.blobs, {
      readMark: async () => {
        const text = await pairing.blobs.readMark();
        // Two of them, as after a long pause: the first read's token is forgotten.
        if ((renewals += 1) === 1) for (const _ of [1, 2]) await renewMark(pairing, holding);
        return text;
      },
    });
    expect(await findDoubt(pairingOf(pairing.database, racing))).toBeNull();
    expect((await findMarkRow(pairing.database))?.stopped).toBeNull();
  });

  it("of a clone stops both: who comes second finds the other's token, and leaves word for the first", async () => {
    const pairing = await openPairing();
    await requirePair(pairing);
    const clone = await cloneRow(pairing);
    expect(await findDoubt(clone)).toBeNull();
    const [first, second] = await Promise.all([renewMark(pairing, holding), renewMark(clone, holding)]);
    expect([first, second].filter((doubt) => doubt !== null)).toEqual(["another-database"]);
    expect(await findDoubt(pairing)).toBe("another-database");
    expect(await findDoubt(clone)).toBe("another-database");
    const mark = await readMark(pairing.blobs);
    clock.advance(10 * MINUTE);
    for (const one of [pairing, clone]) expect(await renewMark(one, holding)).toBe("another-database");
    expect(await readMark(pairing.blobs)).toEqual(mark);
  });

  it("is refused to rows of yesterday, which leave the store to the newest ones", async () => {
    const pairing = await openPairing();
    await requirePair(pairing);
    const yesterday = await cloneRow(pairing);
    clock.advance(24 * 60 * MINUTE);
    for (const _ of [1, 2]) await renewMark(pairing, holding);
    expect(await renewMark(yesterday, holding)).toBe("older-rows");
    expect(await findDoubt(pairing)).toBeNull();
  });
});

it("a doubt is of the times of both, and stays", () => {
  const row: StoreMarkRow = {
    id: 1,
    store_id: "store",
    token: "now",
    previous_token: "before",
    renewed_at: 100 * MINUTE,
    stopped: null,
  };
  const mark = { storeId: "store", token: "now", renewedAt: 100 * MINUTE, contested: false };
  expect(doubtOf(row, mark)).toBeNull();
  expect(doubtOf(row, { ...mark, token: "before" })).toBeNull();
  expect(doubtOf(row, null)).toBe("no-mark");
  expect(doubtOf(row, { ...mark, storeId: "another" })).toBe("another-database");
  expect(doubtOf(row, { ...mark, contested: true })).toBe("another-database");
  expect(doubtOf(row, { ...mark, token: "x", renewedAt: 110 * MINUTE })).toBe("another-database");
  expect(doubtOf(row, { ...mark, token: "x", renewedAt: 130 * MINUTE })).toBe("older-rows");
  expect(doubtOf(row, { ...mark, token: "x", renewedAt: 70 * MINUTE })).toBe("older-store");
  expect(doubtOf({ ...row, stopped: "older-rows" }, mark)).toBe("older-rows");
});

it("a mark that nobody has written is an error", () => {
  for (const text of ["", "{", "null", "[]", '{"storeId":"a","token":"b","renewedAt":"c","contested":false}'])
    expect(() => parseMark(text)).toThrow("cannot be read");
});

describe("an adoption", () => {
  it("counts what it finds, and lets deletion go on for one of two clones alone", async () => {
    const pairing = await openPairing();
    await addFiles(pairing, 4, 1);
    await addOrphan(pairing.blobs);
    await requirePair(pairing);
    expect(await countContents(pairing.database, pairing.blobs)).toEqual({ named: 3, unknown: 1, missing: 1 });
    const clone = await cloneRow(pairing);
    await renewMark(pairing, holding);
    await renewMark(clone, holding);
    expect(await findDoubt(pairing)).toBe("another-database");
    const ofClone = await findPair(clone);
    expect(busyUntil(ofClone, clock.now())).toBe(clock.now() + 30 * MINUTE);
    expect(busyUntil(ofClone, clock.now() + 30 * MINUTE)).toBeNull();
    const found = await findPair(pairing);
    expect(busyUntil(found, clock.now())).toBeNull();
    expect(await takeOver(pairing, found)).toBe(true);
    expect(await findDoubt(pairing)).toBeNull();
    expect(await renewMark(pairing, holding)).toBeNull();
    expect(await renewMark(clone, holding)).toBe("another-database");
    expect(await findDoubt(pairing)).toBeNull();
  });

  it("fails when somebody renews the mark meanwhile, and nothing is deleted", async () => {
    const pairing = await openPairing();
    await requirePair(pairing);
    const clone = await cloneRow(pairing);
    const found = await findPair(clone);
    await renewMark(pairing, holding);
    expect(await takeOver(clone, found)).toBe(false);
    expect(await findDoubt(clone)).toBe("another-database");
  });

  it("of a store without a mark gives a new id: the store of before is another's", async () => {
    const mine = await openPairing();
    await requirePair(mine);
    const empty = pairingOf(mine.database, openMemoryBlobs({ clock }));
    expect(await takeOver(empty, await findPair(empty))).toBe(true);
    await requirePair(empty);
    expect(await findDoubt(empty)).toBeNull();
    await expect(requirePair(mine)).rejects.toThrow("belongs to another database");
  });
});

function changed(store: BlobStore, changes: Partial<BlobStore>): BlobStore {
  return new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(changes, name) ?? Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

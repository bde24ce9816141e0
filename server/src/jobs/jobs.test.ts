import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { allOf, inChunks } from "../../../test/kit/bytes.ts";
import { ManualClock } from "../../../test/kit/clock.ts";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { fileRow, folderRow, insertAccount, uploadRow } from "../../../test/kit/rows.ts";
import { parseConfig } from "../config.ts";
import { actOn } from "../features/account/act.ts";
import type { BlobStore } from "../ports/blob-store.ts";
import type { Database } from "../ports/database.ts";
import { systemRandom } from "../ports/random.ts";
import type { FileRow, FolderRow, UploadRow } from "../ports/tables.ts";
import { deleteQueuedBlobs } from "./blob-deletions.ts";
import { expireIdempotency, expireUploads } from "./expiry.ts";
import { sweepOrphans } from "./sweep.ts";
import { purgeTrash } from "./trash-purge.ts";
import { openMemoryBlobs, openTestDatabase } from "../test-storage.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const running = new AbortController().signal;
/** What waits for its deletion and counts for no account. */
const nobodys = { account_id: null, bytes: 0 };

let directory: string;
let database: Database;
let clock: ManualClock;
let blobs: BlobStore;
let place: { account_id: string; vault_id: string };
const errors: string[] = [];
const log = { info: () => undefined, error: (_: unknown, message: string) => void errors.push(message) };
const { settings } = parseConfig({ SERVICE_ENV: "development" });
const deps = () => ({ database, blobs, clock, random: systemRandom, log, settings });

beforeEach(async () => {
  directory = makeDirectory();
  database = await openTestDatabase(directory);
  clock = new ManualClock();
  blobs = openMemoryBlobs({ clock });
  const { accountId, vaultId } = await insertAccount(database);
  place = { account_id: accountId, vault_id: vaultId };
  errors.length = 0;
});
afterEach(async () => {
  await database[Symbol.asyncDispose]();
});

describe("the sweep for orphans", () => {
  it("removes old blobs without a row, and nothing else", async () => {
    const file = await storeFile();
    const upload = await storeUpload();
    await storeBlob();
    await blobs.begin(randomUUID());
    const queued = await storeBlob();
    await database.run(
      database.build
        .insertInto("blob_deletions")
        .values({ ...nobodys, blob_key: queued, not_before: clock.now() + DAY }),
    );
    clock.advance(HOUR + 1);
    const fresh = await storeBlob();
    expect(await sweepOrphans(deps(), { leftBefore: null })).toEqual({ orphans: 2, dangling: 0 });
    expect(await keys()).toEqual([file.blob_key, upload.blob_key, queued, fresh].toSorted());
  });

  it("leaves what is younger than an hour: a request may be about to write its row", async () => {
    await storeBlob();
    clock.advance(HOUR - 1);
    expect(await sweepOrphans(deps(), { leftBefore: null })).toEqual({ orphans: 0, dangling: 0 });
  });

  it("takes everything an earlier process left when it is alone at the start, and nothing of this one", async () => {
    const left = await storeBlob();
    clock.advance(1);
    const leftBefore = clock.now();
    clock.advance(1);
    const fresh = await storeBlob();
    expect(await sweepOrphans(deps(), { leftBefore })).toEqual({ orphans: 1, dangling: 0 });
    expect(await keys()).toEqual([fresh]);
    expect(left).not.toBe(fresh);
  });

  it("reports rows without a blob and never touches them", async () => {
    const kept = await storeFile();
    const dangling = await storeFile();
    await blobs.delete(dangling.blob_key);
    expect(await sweepOrphans(deps(), { leftBefore: clock.now() })).toEqual({ orphans: 0, dangling: 1 });
    expect(errors).toEqual(["files without content"]);
    const rows = await database.all(database.build.selectFrom("files").select("id"));
    expect(rows.map((row) => row.id).toSorted()).toEqual([kept.id, dangling.id].toSorted());
  });

  it("drops the partial of a blob that is complete", async () => {
    const file = await storeFile();
    await blobs.delete(file.blob_key);
    await blobs.begin(file.blob_key);
    const whole = { ...(await first()), complete: true };
    const both = {
      ...reopened(blobs),
      list: () => inOrder([whole, { ...whole, complete: false }]),
    };
    clock.advance(2 * HOUR);
    expect(await sweepOrphans({ ...deps(), blobs: both }, { leftBefore: null })).toEqual({ orphans: 1, dangling: 0 });
  });
});

describe("uploads that have expired", () => {
  it("go with their bytes, and a finished one leaves its file's blob alone", async () => {
    const [open, finished, live] = [
      await storeUpload(),
      await storeUpload(),
      await storeUpload({ expires_at: clock.now() + 2 * DAY }),
    ];
    const file = await storeFile();
    await database.run(
      database.build.updateTable("uploads").set({ blob_key: "finished-key" }).where("id", "=", finished.id),
    );
    await database.run(database.build.updateTable("files").set({ blob_key: "finished-key" }).where("id", "=", file.id));
    clock.advance(DAY);
    expect(
      await expireUploads({ ...deps(), settings: parseConfig({ SERVICE_ENV: "development" }).settings }, running),
    ).toEqual({ expired: 2 });
    const rows = await database.all(database.build.selectFrom("uploads").select("id"));
    expect(rows.map((row) => row.id)).toEqual([live.id]);
    const queue = await database.all(database.build.selectFrom("blob_deletions").select("blob_key"));
    expect(queue.map((row) => row.blob_key)).toEqual([open.blob_key]);
    expect(await deleteQueuedBlobs(deps(), running)).toEqual({ deleted: 1, failed: 0 });
    expect(await blobs.partialLength(open.blob_key)).toBeNull();
    expect(await blobs.partialLength(live.blob_key)).toBe(0);
  });
});

describe("queued blob deletions", () => {
  it("wait for their time, then delete the blob and leave the queue", async () => {
    const key = await storeBlob();
    await database.run(
      database.build.insertInto("blob_deletions").values({ ...nobodys, blob_key: key, not_before: clock.now() + 1000 }),
    );
    expect(await deleteQueuedBlobs(deps(), running)).toEqual({ deleted: 0, failed: 0 });
    clock.advance(1000);
    expect(await deleteQueuedBlobs(deps(), running)).toEqual({ deleted: 1, failed: 0 });
    expect(await keys()).toEqual([]);
    expect(await database.all(database.build.selectFrom("blob_deletions").selectAll())).toEqual([]);
  });

  it("stay queued when they fail, and one failure does not stop the others", async () => {
    const [bad, good] = [await storeBlob(), await storeBlob()];
    const queue = [bad, good].map((blob_key) => ({ ...nobodys, blob_key, not_before: 0 }));
    await database.run(database.build.insertInto("blob_deletions").values(queue));
    const failing = {
      ...reopened(blobs),
      removeAll: async (keys: readonly string[]) =>
        new Map([...(await blobs.removeAll(keys.filter((key) => key !== bad))), [bad, new Error("EIO")]]),
    };
    expect(await deleteQueuedBlobs({ ...deps(), blobs: failing }, running)).toEqual({ deleted: 1, failed: 1 });
    expect(errors).toEqual(["a blob could not be deleted"]);
    expect(await deleteQueuedBlobs(deps(), running)).toEqual({ deleted: 1, failed: 0 });
  });

  it("never delete what a file still has", async () => {
    const file = await storeFile();
    await database.run(
      database.build.insertInto("blob_deletions").values({ ...nobodys, blob_key: file.blob_key, not_before: 0 }),
    );
    expect(await deleteQueuedBlobs(deps(), running)).toEqual({ deleted: 0, failed: 1 });
    expect(await keys()).toEqual([file.blob_key]);
  });
});

describe("the trash", () => {
  it("is emptied of what has been in it for 30 days, with usage, changes and blobs [D5-trash-purge]", async () => {
    const trashed = (more: Partial<FileRow> = {}) => storeFile({ trashed_at: clock.now(), ...more });
    const folder = await storeFolder({ trashed_at: clock.now() });
    const inner = await storeFolder({ parent_id: folder.id, trashed_at: clock.now() });
    const old = [await trashed(), await trashed({ folder_id: inner.id })];
    clock.advance(1);
    const young = await trashed();
    const live = await storeFile();
    clock.advance(30 * DAY - 1);
    expect(await purgeTrash(deps(), running)).toEqual({ files: 2, folders: 2, vaults: 0 });
    const left = await database.all(database.build.selectFrom("files").select("id"));
    expect(left.map((row) => row.id).toSorted()).toEqual([young.id, live.id].toSorted());
    expect(await database.all(database.build.selectFrom("folders").select("id"))).toEqual([]);
    const account = await database.first(
      database.build.selectFrom("accounts").select(["usage_bytes", "usage_files", "sequence"]),
    );
    expect({ ...account }).toEqual({ usage_bytes: 20, usage_files: 2, sequence: 4 });
    const queue = await database.all(database.build.selectFrom("blob_deletions").select("blob_key"));
    expect(queue.map((row) => row.blob_key).toSorted()).toEqual(old.map((row) => row.blob_key).toSorted());
    const changes = await database.all(database.build.selectFrom("changes").select("action"));
    expect(changes.map((row) => row.action).toSorted()).toEqual([
      "file.deleted",
      "file.deleted",
      "folder.deleted",
      "folder.deleted",
    ]);
  });

  it("keeps a folder that still holds something, and all above it", async () => {
    const folder = await storeFolder({ trashed_at: clock.now() });
    const inner = await storeFolder({ parent_id: folder.id, trashed_at: clock.now() });
    const empty = await storeFolder({ parent_id: folder.id, trashed_at: clock.now() });
    clock.advance(1);
    await storeFile({ folder_id: inner.id, trashed_at: clock.now() });
    clock.advance(30 * DAY - 1);
    expect(await purgeTrash(deps(), running)).toEqual({ files: 0, folders: 1, vaults: 0 });
    const left = await database.all(database.build.selectFrom("folders").select("id"));
    expect(left.map((row) => row.id)).not.toContain(empty.id);
    clock.advance(1);
    expect(await purgeTrash(deps(), running)).toEqual({ files: 1, folders: 2, vaults: 0 });
  });
});

it("answers kept for repeated requests go when their time is over", async () => {
  const row = {
    account_id: place.account_id,
    fingerprint: "f",
    state: "done",
    resource: null,
    status: 201,
    headers_json: null,
    body: "{}",
    owner: "o",
    created_at: 0,
  };
  const rows = [5, 10, 15].map((minutes) => ({
    ...row,
    key: `key ${minutes}`,
    expires_at: clock.now() + minutes * 60_000,
  }));
  await database.run(database.build.insertInto("idempotency").values(rows));
  clock.advance(10 * 60_000);
  expect(await expireIdempotency(deps(), running)).toEqual({ expired: 2 });
});

async function storeBlob(key: string = randomUUID()): Promise<string> {
  await blobs.put(key, inChunks(Buffer.from("0123456789")));
  return key;
}

async function storeFile(more: Partial<FileRow> = {}): Promise<FileRow> {
  const file = fileRow({ ...place, ...more });
  await storeBlob(file.blob_key);
  await database.run(database.build.insertInto("files").values(file));
  await actOn(deps(), place.account_id, async (act) => act.free({ bytes: -file.size, files: -1 }));
  return file;
}

async function storeFolder(more: Partial<FolderRow>): Promise<FolderRow> {
  const folder = folderRow({ ...place, ...more });
  await database.run(database.build.insertInto("folders").values(folder));
  return folder;
}

async function storeUpload(more: Partial<UploadRow> = {}): Promise<UploadRow> {
  const upload = uploadRow({ ...place, expires_at: clock.now() + DAY, ...more });
  await blobs.begin(upload.blob_key);
  await database.run(database.build.insertInto("uploads").values(upload));
  return upload;
}

async function keys(): Promise<string[]> {
  return (await allOf(blobs.list())).map((blob) => blob.key).toSorted();
}

async function first() {
  const [blob] = await allOf(blobs.list());
  if (blob === undefined) throw new Error("nothing is stored");
  return blob;
}

async function* inOrder<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* await Promise.resolve(items);
}

/** The same content as a store that another process opens would see it. */
function reopened(store: BlobStore): BlobStore {
  return {
    capabilities: store.capabilities,
    put: (key, source) => store.put(key, source),
    putAll: (several) => store.putAll(several),
    open: (key, range) => store.open(key, range),
    delete: (key) => store.delete(key),
    removeAll: (keys) => store.removeAll(keys),
    begin: (key) => store.begin(key),
    append: (key, offset, source, options) => store.append(key, offset, source, options),
    takeOver: (key, into) => store.takeOver(key, into),
    partialLength: (key) => store.partialLength(key),
    complete: (key) => store.complete(key),
    discard: (key) => store.discard(key),
    list: () => store.list(),
    ping: () => store.ping(),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

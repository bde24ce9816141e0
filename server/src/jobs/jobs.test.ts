import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { allOf, inChunks } from "../../../test/kit/bytes.ts";
import { ManualClock } from "../../../test/kit/clock.ts";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { fileRow, folderRow, insertAccount, uploadRow } from "../../../test/kit/rows.ts";
import { parseConfig } from "../config.ts";
import { actOn } from "../features/account/act.ts";
import { insertFile } from "../features/files/store.ts";
import { sumGivenUp } from "../features/holds/store.ts";
import type { BlobStore } from "../ports/blob-store.ts";
import type { Database } from "../ports/database.ts";
import { systemRandom } from "../ports/random.ts";
import type { FileRow, FolderRow, UploadRow } from "../ports/tables.ts";
import { deleteQueuedBlobs } from "./blob-deletions.ts";
import { expireUploads } from "./expiry.ts";
import { sweepOrphans } from "./sweep.ts";
import { purgeTrash } from "./trash-purge.ts";
import { openMemoryBlobs, openTestDatabase } from "../storage.test-kit.ts";
import { claimContent } from "../features/quarantine/store.ts";
import { inOrder, reopened, runningTimeOf } from "./jobs.test-kit.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const running = new AbortController().signal;
/** What waits for its deletion and counts for no account. */
const nobodys = { account_id: null, bytes: 0, reason: "deleted" } as const;

let directory: string;
let database: Database;
let clock: ManualClock;
let blobs: BlobStore;
let place: { account_id: string; vault_id: string };
const errors: string[] = [];
const log = { info: () => undefined, error: (_: unknown, message: string) => void errors.push(message) };
const { settings } = parseConfig({ SERVICE_ENV: "development" });
const deps = () => ({ database, blobs, clock, random: systemRandom, log, settings, runningTime: runningTimeOf(clock) });
const NOTHING = { orphans: 0, partials: 0, putBack: 0, dangling: 0, stopped: 0 };
/** What deletes after a time of its own, without what entered it. */
const runDeletions = () => deleteQueuedBlobs(deps(), running);

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
  it("puts old contents without a row into quarantine for 7 days of running time, and touches nothing else", async () => {
    const file = await storeFile();
    const upload = await storeUpload();
    const orphan = await storeBlob();
    const queued = await storeBlob();
    await queue(queued, clock.now() + DAY);
    clock.advance(HOUR + 1);
    const fresh = await storeBlob();
    expect(await sweep()).toMatchObject({ ...NOTHING, orphans: 1 });
    expect(await quarantined()).toEqual([[orphan, "orphan", 7 * DAY]]);
    expect(await sweep()).toMatchObject(NOTHING);
    clock.advance(7 * DAY - 1);
    expect(await runDeletions()).toMatchObject({ deleted: 0 });
    expect(await keys()).toEqual([file.blob_key, upload.blob_key, queued, orphan, fresh].toSorted());
    clock.advance(1);
    expect(await runDeletions()).toMatchObject({ deleted: 1, failed: 0 });
    expect(await keys()).toEqual([file.blob_key, upload.blob_key, queued, fresh].toSorted());
    expect(errors).toEqual([]);
  });

  it("leaves what is younger than an hour: a request may be about to write its row", async () => {
    await storeFile();
    await storeBlob();
    clock.advance(HOUR - 1);
    expect(await sweep()).toMatchObject(NOTHING);
  });

  it("leaves bytes of uploads without a row as long as the upload could go on, and then removes them", async () => {
    await storeFile();
    await blobs.start(randomUUID());
    clock.advance(DAY + HOUR - 1);
    expect(await sweep()).toMatchObject(NOTHING);
    clock.advance(1);
    expect(await sweep()).toMatchObject({ ...NOTHING, partials: 1 });
    expect(await keys()).toHaveLength(1);
  });

  it("stops where no row names anything, and where there are more than 20 and more than one in a hundred", async () => {
    await storeBlob();
    clock.advance(2 * HOUR);
    expect(await sweep()).toMatchObject({ ...NOTHING, stopped: 1 });
    expect(errors).toEqual([expect.stringContaining("the sweep stopped")]);
    await storeFile();
    expect(await sweep()).toMatchObject({ ...NOTHING, orphans: 1 });
    for (let count = 1; count < 20; count += 1) await storeBlob();
    clock.advance(2 * HOUR);
    expect(await sweep()).toMatchObject({ ...NOTHING, orphans: 19 });
    // All passes of seven days count together.
    await storeBlob();
    clock.advance(2 * HOUR);
    expect(await sweep()).toMatchObject({ ...NOTHING, stopped: 1 });
    expect(await quarantined()).toHaveLength(20);
    // Those of before stay as well: whose rows these are is in doubt.
    clock.advance(7 * DAY);
    expect(await runDeletions()).toMatchObject({ deleted: 0 });
    // An operator has looked.
    expect(await sweepOrphans(deps(), { as: "confirmed" })).toMatchObject({ orphans: 1, stopped: 0 });
    clock.advance(7 * DAY);
    expect(await runDeletions()).toMatchObject({ deleted: 21 });
  });

  it("puts back what a row names again", async () => {
    const file = await storeFile();
    await database.run(database.build.updateTable("files").set({ blob_key: "elsewhere" }).where("id", "=", file.id));
    await storeFile();
    clock.advance(2 * HOUR);
    expect(await sweep()).toMatchObject({ orphans: 1 });
    const named = database.build.updateTable("files").set({ blob_key: file.blob_key }).where("id", "=", file.id);
    await database.run(named);
    expect(await sweep()).toMatchObject({ ...NOTHING, putBack: 1 });
    expect(await quarantined()).toEqual([]);
  });

  it("waits as long as the clock is in doubt", async () => {
    await storeFile();
    const orphan = await storeBlob();
    clock.advance(2 * HOUR);
    const runningTime = { ...runningTimeOf(clock), doubt: () => Promise.resolve("the clock was set") };
    expect(await sweepOrphans({ ...deps(), runningTime })).toEqual(NOTHING);
    await queue(orphan, 0);
    expect(await deleteQueuedBlobs({ ...deps(), runningTime }, running)).toMatchObject({ quarantined: 0, deleted: 0 });
  });

  it("reports rows without a blob and never touches them", async () => {
    const kept = await storeFile();
    const dangling = await storeFile();
    await blobs.delete(dangling.blob_key);
    expect(await sweep()).toMatchObject({ ...NOTHING, dangling: 1 });
    expect(errors).toEqual(["files without content"]);
    const rows = await database.all(database.build.selectFrom("files").select("id"));
    expect(rows.map((row) => row.id).toSorted()).toEqual([kept.id, dangling.id].toSorted());
  });

  it("drops the partial of a blob that is complete", async () => {
    const file = await storeFile();
    await blobs.delete(file.blob_key);
    await blobs.start(file.blob_key);
    const whole = { ...(await first()), complete: true };
    const both = {
      ...reopened(blobs),
      list: () => inOrder([whole, { ...whole, complete: false }]),
    };
    clock.advance(2 * DAY);
    expect(await sweepOrphans({ ...deps(), blobs: both })).toMatchObject({ ...NOTHING, partials: 1 });
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
    expect(await expireUploads(deps(), running)).toEqual({ expired: 2 });
    const rows = await database.all(database.build.selectFrom("uploads").select("id"));
    expect(rows.map((row) => row.id)).toEqual([live.id]);
    const queue = await database.all(database.build.selectFrom("blob_deletions").select("blob_key"));
    expect(queue.map((row) => row.blob_key)).toEqual([open.blob_key]);
    expect(await runDeletions()).toEqual({ quarantined: 0, deleted: 1, putBack: 0, failed: 0 });
    expect(await blobs.partialLength(open.blob_key)).toBeNull();
    expect(await blobs.partialLength(live.blob_key)).toBe(0);
  });
});

describe("queued blob deletions", () => {
  it("wait for their time, lie a day of running time in quarantine, and then go with their rows", async () => {
    const key = await storeBlob();
    await queue(key, clock.now() + 1000);
    expect(await runDeletions()).toMatchObject({ quarantined: 0, deleted: 0 });
    clock.advance(1000);
    expect(await runDeletions()).toMatchObject({ quarantined: 1, deleted: 0 });
    expect(await quarantined()).toEqual([[key, "deleted", DAY]]);
    clock.advance(DAY - 1);
    expect(await runDeletions()).toMatchObject({ quarantined: 0, deleted: 0 });
    clock.advance(1);
    expect(await runDeletions()).toMatchObject({ quarantined: 0, deleted: 1, failed: 0 });
    expect(await keys()).toEqual([]);
    expect(await quarantined()).toEqual([]);
    expect(await database.all(database.build.selectFrom("blob_deletions").selectAll())).toEqual([]);
  });

  it("stay when they fail, and one failure does not stop the others", async () => {
    const [bad, good] = [await storeBlob(), await storeBlob()];
    for (const key of [bad, good]) await queue(key, 0);
    await runDeletions();
    clock.advance(DAY);
    const failing = {
      ...reopened(blobs),
      removeAll: async (keys: readonly string[]) =>
        new Map([...(await blobs.removeAll(keys.filter((key) => key !== bad))), [bad, new Error("EIO")]]),
    };
    expect(await deleteQueuedBlobs({ ...deps(), blobs: failing }, running)).toMatchObject({ deleted: 1, failed: 1 });
    expect(errors).toEqual(["a blob could not be deleted"]);
    expect(await runDeletions()).toMatchObject({ deleted: 1, failed: 0 });
  });

  it("never delete what a file, a version or an unfinished upload has: it is put back", async () => {
    const file = await storeFile();
    const upload = await storeUpload();
    for (const key of [file.blob_key, upload.blob_key]) await queue(key, 0);
    await runDeletions();
    clock.advance(DAY);
    expect(await runDeletions()).toMatchObject({ deleted: 0, putBack: 2, failed: 0 });
    expect(await keys()).toEqual([file.blob_key, upload.blob_key].toSorted());
    expect(await quarantined()).toEqual([]);
  });

  it("put back what a commit names, and refuse a commit whose bytes are on their way out", async () => {
    const key = await storeBlob();
    await queue(key, 0);
    await runDeletions();
    await database.transaction((transaction) => claimContent(transaction, key));
    expect(await quarantined()).toEqual([]);
    await queue(key, 0);
    await runDeletions();
    clock.advance(DAY);
    const late: unknown[] = [];
    const slow = {
      ...reopened(blobs),
      async removeAll(keys: readonly string[]) {
        // While the bytes go: the transaction of the mark is over.
        late.push(
          await database.transaction((transaction) => claimContent(transaction, key)).catch((error: unknown) => error),
        );
        return blobs.removeAll(keys);
      },
    };
    expect(await deleteQueuedBlobs({ ...deps(), blobs: slow }, running)).toMatchObject({ deleted: 1 });
    expect(late).toEqual([expect.objectContaining({ code: "unavailable" })]);
  });

  it("wait for a commit that is about to name the content, and then leave it", async () => {
    const file = fileRow(place);
    await storeBlob(file.blob_key);
    await queue(file.blob_key, 0);
    await runDeletions();
    clock.advance(DAY);
    const [named, committed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const committing = database.transaction(async (transaction) => {
      await insertFile(transaction, file);
      named.resolve();
      await committed.promise;
    });
    await named.promise;
    const deleting = runDeletions();
    // Long enough for everything that does not wait.
    await pause(200);
    committed.resolve();
    await committing;
    expect(await deleting).toMatchObject({ deleted: 0, failed: 0 });
    expect(await quarantined()).toEqual([]);
    expect(await keys()).toEqual([file.blob_key]);
  });

  it("keep no more than a further quota of an account in quarantine, and count for nothing there", async () => {
    const { storageBytes } = settings.plans.pro;
    const [first, second, third] = [
      await storeBlob("first-000"),
      await storeBlob("second-00"),
      await storeBlob("third-000"),
    ];
    const ofAccount = { account_id: place.account_id, reason: "deleted" as const };
    const rows = [first, second, third].map((blob_key, at) => ({
      ...ofAccount,
      blob_key,
      not_before: at,
      bytes: blob_key === second ? storageBytes : 10,
    }));
    await database.run(database.build.insertInto("blob_deletions").values(rows));
    expect(await runDeletions()).toMatchObject({ quarantined: 2, deleted: 1 });
    expect(await keys()).toEqual([first, third]);
    expect(await sumGivenUp(database, place.account_id)).toBe(0);
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

const sweep = () => sweepOrphans(deps());

async function queue(key: string, notBefore: number): Promise<void> {
  const row = { ...nobodys, blob_key: key, not_before: notBefore };
  await database.run(database.build.insertInto("blob_deletions").values(row));
}

/** Key, reason and the running time that is left. */
async function quarantined(): Promise<[string, string, number | null][]> {
  const rows = await database.all(database.build.selectFrom("blob_quarantine").selectAll().orderBy("blob_key"));
  return rows.map((row) => [row.blob_key, row.reason, row.ends === null ? null : row.ends - clock.elapsed()]);
}

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
  await blobs.start(upload.blob_key);
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

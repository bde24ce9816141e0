import { afterEach, expect, test } from "vitest";
import { allOf } from "../../test/kit/bytes.ts";
import { type BlobStore, BlobStoreFullError } from "./ports/blob-store.ts";
import type { DiskRoom } from "./ports/disk-room.ts";
import { systemRandom } from "./ports/random.ts";
import { type LogStorage, StorageWatch } from "./storage-watch.ts";
import { openTestApp, type TestApp } from "./app.test-kit.ts";
import { wrapped } from "./wrapped.test-kit.ts";

type Line = Parameters<LogStorage>[0];
const SOON = { probeEvery: 5, probeAgain: 5, endAfter: 20 };

const opened: { app: TestApp | null; end: (() => Promise<void>) | null } = { app: null, end: null };
afterEach(async () => {
  await opened.end?.();
  await opened.app?.[Symbol.asyncDispose]();
  Object.assign(opened, { app: null, end: null });
});

/** Watches a database of its own and blobs that fail with what is in `failure`. */
async function watching(times = SOON) {
  const lines: Line[] = [];
  const app = (opened.app = await openTestApp());
  const failure: { error: Error | null; isForgetful: boolean } = { error: null, isForgetful: false };
  const disk: { room: DiskRoom | null; asked: () => void } = { room: null, asked: () => undefined };
  const { database } = app.deps;
  const blobs: BlobStore = wrapped(app.deps.blobs, {
    putAll: (all) => (failure.error === null ? app.deps.blobs.putAll(all) : Promise.reject(failure.error)),
    open: (key) => (failure.isForgetful ? Promise.resolve(null) : app.deps.blobs.open(key)),
    diskRoom: () => {
      disk.asked();
      return Promise.resolve(disk.room);
    },
  });
  const watch = new StorageWatch((line) => void lines.push(line), times);
  opened.end = watch.watch({ database, blobs, random: systemRandom });
  return { watch, lines, failure, blobs, disk };
}

test("a probe that fails begins one state and ends it, with a line each, and leaves nothing in the store", async () => {
  const { watch, lines, failure, blobs } = await watching();
  failure.error = Object.assign(new Error("read-only"), { code: "EROFS" });
  await expect.poll(() => watch.has("blobs", "away")).toBe(true);
  expect(watch.has("database", "away")).toBe(false);
  failure.error = null;
  await expect.poll(() => watch.has("blobs", "away")).toBe(false);
  expect(lines).toEqual([
    { part: "blobs", state: "away" },
    { part: "blobs", state: "back", was: "away" },
  ]);
  await opened.end?.();
  expect(await allOf(blobs.list())).toEqual([]);
});

test("a store that does not give back what it took is away, and a full one is not", async () => {
  const { watch, failure } = await watching();
  failure.error = new BlobStoreFullError("full");
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(watch.has("blobs", "away")).toBe(false);
  Object.assign(failure, { error: null, isForgetful: true });
  await expect.poll(() => watch.has("blobs", "away")).toBe(true);
});

test("what was refused once is probed soon, and not once for each request", async () => {
  const { watch, failure, lines } = await watching({ ...SOON, probeEvery: 3_600_000 });
  failure.error = new Error("no descriptors");
  for (let times = 0; times < 100; times += 1) watch.onFaultOf("blobs")({ kind: "suspect" });
  await expect.poll(() => watch.has("blobs", "away")).toBe(true);
  failure.error = null;
  await expect.poll(() => watch.has("blobs", "away")).toBe(false);
  expect(lines).toHaveLength(2);
});

test("a failed flush is said once, and loses the storage only a while later", async () => {
  const { watch, lines } = await watching();
  for (let times = 0; times < 3; times += 1)
    watch.onFaultOf("database")({ kind: "stopped", cause: new Error("fsync") });
  expect(watch.isLost).toBe(false);
  await watch.lost;
  expect(watch.isLost).toBe(true);
  expect(lines).toEqual([{ part: "database", state: "stopped" }]);
});

test("damage stays unless the whole file turns out to be whole, and is looked for once", async () => {
  const { watch, lines } = await watching();
  let looks = 0;
  const report = (found: readonly string[]): void =>
    watch.onFaultOf("database")({
      kind: "damaged",
      file: "coffer.sqlite",
      query: "select 1",
      cause: new Error("malformed"),
      examine: () => {
        looks += 1;
        return Promise.resolve(found);
      },
    });
  report(["ok"]);
  expect(watch.has("database", "damaged")).toBe(true);
  await expect.poll(() => watch.has("database", "damaged")).toBe(false);
  report(["Tree 2 page 12"]);
  report(["Tree 2 page 12"]);
  expect(watch.has("database", "damaged")).toBe(true);
  expect(looks).toBe(1);
  expect(lines.map(({ state }) => state)).toEqual(["damaged", "damaged", "back", "damaged"]);
});

test("a full medium is said once, however many writes it refuses, and once more when it has room [issue 51]", async () => {
  const { watch, lines, disk } = await watching();
  const cause = Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  let probes = 0;
  // Something is refused from each probe to the next, although the probe's few bytes fit.
  disk.asked = () => {
    probes += 1;
    for (let times = 0; times < 3; times += 1) watch.onFaultOf("blobs")({ kind: "full", cause });
  };
  await expect.poll(() => probes).toBeGreaterThan(5);
  expect(watch.has("blobs", "full")).toBe(true);
  disk.asked = () => undefined;
  await expect.poll(() => watch.has("blobs", "full")).toBe(false);
  expect(watch.has("blobs", "away")).toBe(false);
  expect(lines).toEqual([
    { part: "blobs", state: "full" },
    { part: "blobs", state: "back", was: "full" },
  ]);
});

test("a disk that has only its reserve left is full before anything is refused [issue 51]", async () => {
  const { watch, lines, disk } = await watching();
  const room = { freeBytes: 1000, sizeBytes: 100_000, reserveBytes: 1000 };
  disk.room = room;
  await expect.poll(() => watch.has("blobs", "full")).toBe(true);
  disk.room = { ...room, freeBytes: 1001 };
  await expect.poll(() => watch.has("blobs", "full")).toBe(false);
  expect(lines).toEqual([
    { part: "blobs", state: "full", ...room },
    { part: "blobs", state: "back", was: "full", ...room, freeBytes: 1001 },
  ]);
});

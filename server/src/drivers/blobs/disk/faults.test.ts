import { link, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { allOf, collect, failingAfter, inChunks, patternBytes, sha256Of } from "../../../../../test/kit/bytes.ts";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { FaultyFiles, type FaultyCall } from "../../../../../test/kit/faulty-files.ts";
import {
  BlobStoreAwayError,
  BlobStoreFaultError,
  BlobStoreFullError,
  type BlobStore,
} from "../../../ports/blob-store.ts";
import { openDiskBlobs } from "../disk.ts";
import { diskFileSystem } from "./file-system.ts";
import { layoutOf } from "./layout.ts";

const MIB = 1024 * 1024;
const TAKES_SPACE: readonly FaultyCall[] = ["create", "write", "link", "flush", "flushDirectory"];
const FLUSHES: readonly FaultyCall[] = ["flush", "flushDirectory"];

interface Bench {
  readonly store: BlobStore;
  readonly files: FaultyFiles;
  readonly directory: string;
}

function onDisk(check: (bench: Bench) => Promise<void>): () => Promise<void> {
  return async () => {
    const directory = makeDirectory();
    const files = new FaultyFiles(diskFileSystem);
    await using store = await openDiskBlobs({ directory, fileSystem: files });
    await check({ store, files, directory });
  };
}

const test = (title: string, check: (bench: Bench) => Promise<void>): void => it(title, onDisk(check));

describe("a kill inside complete", () => {
  test("between the removals of the partial's two files leaves nothing once it is completed again", async ({
    store,
    directory,
  }) => {
    const [key, bytes, layout] = ["killed-in-complete", patternBytes("killed", 1000), layoutOf(directory)];
    await store.start(key);
    await store.append(key, 0, inChunks(bytes, 100));
    await link(layout.partial(key), layout.blob(key));
    await rm(layout.partialLength(key));
    expect(await store.complete(key)).toEqual({ size: bytes.length, sha256: sha256Of(bytes) });
    expect(await readdir(layout.partials)).toEqual([]);
    expect((await allOf(store.list())).map((blob) => blob.complete)).toEqual([true]);
  });
});

describe("a disk that is full", () => {
  for (const code of ["ENOSPC", "EDQUOT"] as const) {
    test(`rejects a put with BlobStoreFullError wherever ${code} strikes, and leaves nothing`, async ({
      store,
      files,
    }) => {
      const bytes = patternBytes("full", 2 * MIB + 100);
      let turns = 0;
      for (let at = 0; ; at += 1, turns += 1) {
        files.inject({ code, at, calls: TAKES_SPACE, persistent: true });
        const outcome = await settled(store.put(`put-number-${at}`, inChunks(bytes, 65_536)));
        const struck = files.hits > 0;
        files.inject(null);
        if (!struck) break;
        expect(outcome).toBeInstanceOf(BlobStoreFullError);
        expect(await allOf(store.list())).toEqual([]);
        expect(await store.open(`put-number-${at}`)).toBeNull();
      }
      expect(turns).toBeGreaterThanOrEqual(7);
      await expect(store.ping()).resolves.toBeUndefined();
      expect((await allOf(store.list())).map((blob) => blob.size)).toEqual([bytes.length]);
    });
  }

  test("rejects an append wherever it strikes; what was durable stays, and the upload goes on", async ({
    store,
    files,
  }) => {
    const bytes = patternBytes("append", 3 * MIB);
    for (let at = 0, struck = true; struck; at += 1) {
      const key = `append-number-${at}`;
      await store.start(key);
      await store.append(key, 0, inChunks(bytes.subarray(0, 1000)));
      files.inject({ code: "ENOSPC", at, calls: TAKES_SPACE, persistent: true });
      const outcome = await settled(store.append(key, 1000, inChunks(bytes.subarray(1000), 65_536)));
      struck = files.hits > 0;
      files.inject(null);
      if (struck) expect(outcome).toBeInstanceOf(BlobStoreFullError);
      const length = (await store.partialLength(key)) ?? Number.NaN;
      expect(length).toBeGreaterThanOrEqual(1000);
      await store.append(key, length, inChunks(bytes.subarray(length), 65_536));
      expect(await store.complete(key)).toEqual({ size: bytes.length, sha256: sha256Of(bytes) });
    }
  });

  test("still reads and deletes", async ({ store, files }) => {
    await store.put("there-before", inChunks(Buffer.from("content")));
    files.inject({ code: "ENOSPC", at: 0, calls: TAKES_SPACE, persistent: true });
    expect((await collect(await store.open("there-before"))).toString()).toBe("content");
    await store.delete("there-before");
    expect(await allOf(store.list())).toEqual([]);
  });
});

describe("a flush that fails", () => {
  it("rejects with BlobStoreFaultError wherever it strikes, once and for all, and is not tried again", async () => {
    let turns = 0;
    for (let at = 0, struck = true; struck; at += 1) {
      await onDisk(async ({ store, files }) => {
        await store.put("there-before", inChunks(Buffer.from("content")));
        files.inject({ code: "EIO", at, calls: FLUSHES });
        const outcome = await settled(store.put("never-there", inChunks(patternBytes("eio", 40 * MIB))));
        struck = files.hits > 0;
        if (!struck) return;
        turns += 1;
        expect(outcome).toBeInstanceOf(BlobStoreFaultError);
        expect(files.hits).toBe(1);
        expect(await store.open("never-there")).toBeNull();
        await expect(store.ping()).rejects.toThrow(BlobStoreFaultError);
        await expect(store.put("not-either", inChunks(Buffer.from("x")))).rejects.toThrow(BlobStoreFaultError);
        await expect(store.start("not-a-partial")).rejects.toThrow(BlobStoreFaultError);
        expect((await collect(await store.open("there-before"))).toString()).toBe("content");
        expect((await allOf(store.list())).map((blob) => blob.key)).toEqual(["there-before"]);
      })();
    }
    // The early one of a long upload, the file's, and the directory's.
    expect(turns).toBe(3);
  });
});

describe("what a process lacks for a moment", () => {
  const CALLS: readonly FaultyCall[] = ["create", "write", "link", "openDirectory"];
  for (const code of ["EMFILE", "ENFILE", "ENOMEM", "EIO", "EROFS"] as const) {
    test(`refuses what meets ${code} before a flush, wherever it strikes, and nothing after it`, async ({
      store,
      files,
    }) => {
      const bytes = Buffer.from("content");
      let turns = 0;
      for (let at = 0; ; at += 1, turns += 1) {
        files.inject({ code, at, calls: CALLS });
        const isLarge = at % 2 === 0;
        const key = `missing-${String(at)}`;
        const putting = isLarge ? store.put(key, inChunks(bytes)) : store.putAll([{ key, bytes }]);
        const outcome = await settled(putting);
        const struck = files.hits > 0;
        files.inject(null);
        if (!struck) break;
        expect(outcome).toBeInstanceOf(BlobStoreAwayError);
        expect(await store.open(key)).toBeNull();
        await expect(store.ping()).resolves.toBeUndefined();
      }
      expect(turns).toBe(CALLS.length);
      expect((await store.put("afterwards", inChunks(bytes))).size).toBe(bytes.length);
      await store.start("afterwards-too");
      files.inject({ code, at: 0, calls: ["openDirectory"] });
      expect(await settled(store.start("without-descriptors"))).toBeInstanceOf(BlobStoreAwayError);
      expect(await store.append("afterwards-too", 0, inChunks(bytes))).toBe(bytes.length);
    });
  }

  test("does not keep a blob from its key when only the clean-up fails", async ({ store, files }) => {
    files.failRemovals("EROFS");
    const bytes = Buffer.from("content");
    expect((await store.put("durable-by-then", inChunks(bytes))).size).toBe(bytes.length);
    expect(await store.putAll([{ key: "durable-together", bytes }])).toHaveLength(1);
    files.failRemovals(null);
    expect((await collect(await store.open("durable-by-then"))).toString()).toBe("content");
  });
});

describe("a client that goes away or stalls", () => {
  test("leaves no file behind at any of 20 offsets", async ({ store, directory }) => {
    for (let index = 0; index < 20; index += 1) {
      const bytes = patternBytes("aborted", index * 137_000);
      await expect(store.put(`aborted-${index}`, failingAfter(bytes, new Error("gone"), 65_536))).rejects.toThrow(
        "gone",
      );
    }
    expect(await readdir(join(directory, "temporary"))).toEqual([]);
    expect(await allOf(store.list())).toEqual([]);
  });

  test("is not listed while it is being written, so that no sweep takes it away, and does not stop others", async ({
    store,
  }) => {
    const resume = Promise.withResolvers<undefined>();
    const stalled = store.put("stalled-upload", stallingUntil(resume.promise));
    await store.put("other-upload", inChunks(Buffer.from("content")));
    expect((await allOf(store.list())).map((blob) => blob.key)).toEqual(["other-upload"]);
    await store.discard("stalled-upload");
    resume.resolve(undefined);
    expect(await stalled).toEqual({ size: 10, sha256: sha256Of(Buffer.from("firstafter")) });
  });
});

async function* stallingUntil(resume: Promise<undefined>): AsyncGenerator<Uint8Array> {
  yield Buffer.from("first");
  await resume;
  yield Buffer.from("after");
}

/** The value, or the error. */
async function settled(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work;
  } catch (error) {
    return error;
  }
}

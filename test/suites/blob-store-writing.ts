import { describe, expect } from "vitest";
import { allOf, collect, failingAfter, inChunks, patternBytes, sha256Of } from "../kit/bytes.ts";
import { newKey, storeTests, type OpenMedium } from "./blob-medium.ts";

const MIB = 1024 * 1024;
const SIZES = [0, 1, 1000, 65_535, 65_536, 65_537, MIB - 1, MIB, MIB + 1, 3 * MIB + 12_345];
const NOT_KEYS = [
  "",
  "short",
  "../../../etc/passwd",
  "a/b/c/d/e/f",
  "UPPERCASE-KEY",
  "with space",
  "nul\0nul\0nul",
  "dots.dots.dots",
  "x".repeat(65),
];

export function describeWriting(openMedium: OpenMedium): void {
  const test = storeTests(openMedium);

  describe("put", () => {
    for (const size of SIZES) {
      test(`stores ${size} bytes and answers their size and digest`, async (store) => {
        const bytes = patternBytes("put", size);
        const key = newKey();
        expect(await store.put(key, inChunks(bytes, 10_007, 65_536, 1))).toEqual({ size, sha256: sha256Of(bytes) });
        const stored = await store.open(key);
        expect(stored).not.toBeNull();
        if (stored !== null) expect((await collect(stored)).equals(bytes)).toBe(true);
      });
    }

    test("takes a chunk larger than any buffer", async (store) => {
      const bytes = patternBytes("large", 5 * MIB + 3);
      expect((await store.put(newKey(), inChunks(bytes))).sha256).toBe(sha256Of(bytes));
    });

    test("writes a key once: the second put rejects and the first content stays", async (store) => {
      const key = newKey();
      const first = patternBytes("first", 70_000);
      await store.put(key, inChunks(first, 8192));
      await expect(store.put(key, inChunks(patternBytes("second", 70_000), 8192))).rejects.toThrow();
      expect((await collect(await store.open(key))).equals(first)).toBe(true);
    });

    test("passes a source's own error through, and leaves nothing readable", async (store) => {
      for (const size of [0, 1, 200_000, 2 * MIB]) {
        const key = newKey();
        const failure = new Error("the client went away");
        await expect(store.put(key, failingAfter(patternBytes("aborted", size), failure, 65_536))).rejects.toBe(
          failure,
        );
        expect(await store.open(key)).toBeNull();
        const left = (await allOf(store.list())).filter((blob) => blob.key === key);
        expect(left.every((blob) => !blob.complete)).toBe(true);
        await store.discard(key);
        expect((await allOf(store.list())).some((blob) => blob.key === key)).toBe(false);
      }
    });

    test("refuses what is no key, in every method", async (store) => {
      for (const key of NOT_KEYS) {
        await expect(store.put(key, inChunks(Buffer.from("x")))).rejects.toThrow(RangeError);
        await expect(store.open(key)).rejects.toThrow(RangeError);
        await expect(store.delete(key)).rejects.toThrow(RangeError);
        await expect(store.start(key)).rejects.toThrow(RangeError);
        await expect(store.append(key, 0, inChunks(Buffer.from("x")))).rejects.toThrow(RangeError);
        await expect(store.partialLength(key)).rejects.toThrow(RangeError);
        await expect(store.complete(key)).rejects.toThrow(RangeError);
        await expect(store.discard(key)).rejects.toThrow(RangeError);
      }
      expect(await allOf(store.list())).toEqual([]);
    });
  });

  describe("putAll", () => {
    test("stores several blobs, and answers sizes and digests in their order", async (store) => {
      const blobs = [0, 1, 4096, 300_000, ...Array<number>(40).fill(100)].map((size, at) => ({
        key: newKey(),
        bytes: patternBytes(`together ${String(at)}`, size),
      }));
      const receipts = await store.putAll(blobs);
      expect(receipts).toEqual(blobs.map(({ bytes }) => ({ size: bytes.length, sha256: sha256Of(bytes) })));
      for (const { key, bytes } of blobs) expect((await collect(await store.open(key))).equals(bytes)).toBe(true);
      expect((await allOf(store.list())).map(({ complete, key }) => [complete, key]).toSorted()).toEqual(
        blobs.map(({ key }) => [true, key]).toSorted(),
      );
      expect(await store.putAll([])).toEqual([]);
    });

    test("leaves nothing readable of those that came with a key that is taken, or that is none", async (store) => {
      const [taken, other] = [newKey(), newKey()];
      await store.put(taken, inChunks(Buffer.from("first")));
      const bytes = Buffer.from("second");
      await expect(store.putAll([other, taken].map((key) => ({ key, bytes })))).rejects.toThrow();
      await expect(store.putAll([other, "no key"].map((key) => ({ key, bytes })))).rejects.toThrow(RangeError);
      expect(await store.open(other)).toBeNull();
      expect((await collect(await store.open(taken))).toString()).toBe("first");
    });
  });

  describe("delete", () => {
    test("makes a blob unreadable, and is no error for an unknown key", async (store) => {
      const key = newKey();
      await store.put(key, inChunks(Buffer.from("content")));
      await store.delete(key);
      expect(await store.open(key)).toBeNull();
      await expect(store.delete(key)).resolves.toBeUndefined();
      expect(await allOf(store.list())).toEqual([]);
    });
  });

  describe("list", () => {
    test("names everything with its size, partials included", async (store) => {
      const [blob, partial] = [newKey(), newKey()];
      await store.put(blob, inChunks(patternBytes("listed", 1234)));
      await store.start(partial);
      const found = await allOf(store.list());
      expect(
        found
          .map(({ key, complete }) => ({ key, complete }))
          .toSorted((a, b) => Number(a.complete) - Number(b.complete)),
      ).toEqual([
        { key: partial, complete: false },
        { key: blob, complete: true },
      ]);
      expect(found.find(({ key }) => key === blob)?.size).toBe(1234);
      for (const { modifiedAt } of found) expect(Number.isSafeInteger(modifiedAt)).toBe(true);
    });
  });

  test("answers a ping", async (store) => {
    await expect(store.ping()).resolves.toBeUndefined();
  });
}

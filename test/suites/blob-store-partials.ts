import type { BlobStore } from "@coffer/server/ports/blob-store";
import { describe, expect, it } from "vitest";
import { allOf, collect, failingAfter, inChunks, patternBytes, sha256Of } from "../kit/bytes.ts";
import { newKey, storeTests, type OpenMedium } from "./blob-medium.ts";

const MIB = 1024 * 1024;
/** Odd on purpose: no store may need parts of its own size from the caller. */
const PARTS = [1, 333, 65_536, 700_001, 0, MIB, 5 * MIB + 7];

export function describePartials(openMedium: OpenMedium): void {
  const test = storeTests(openMedium);

  describe("partial blobs", () => {
    test("grow by parts of any size and become a blob", async (store) => {
      const bytes = patternBytes(
        "parts",
        PARTS.reduce((sum, part) => sum + part),
      );
      const key = newKey();
      await store.start(key);
      expect(await store.partialLength(key)).toBe(0);
      let length = 0;
      for (const part of PARTS) {
        const next = await store.append(key, length, inChunks(bytes.subarray(length, length + part), 50_021));
        expect(next).toBe(length + part);
        expect(await store.partialLength(key)).toBe(next);
        expect(await store.open(key)).toBeNull();
        length = next;
      }
      expect(await store.complete(key)).toEqual({ size: bytes.length, sha256: sha256Of(bytes) });
      expect((await collect(await store.open(key))).equals(bytes)).toBe(true);
      expect(await store.partialLength(key)).toBeNull();
      expect((await allOf(store.list())).map((blob) => blob.complete)).toEqual([true]);
    });

    test("can be empty", async (store) => {
      const key = newKey();
      await store.start(key);
      expect(await store.complete(key)).toEqual({ size: 0, sha256: sha256Of(Buffer.alloc(0)) });
    });

    test("refuse an append anywhere but at their end", async (store) => {
      const key = newKey();
      await expect(store.append(key, 0, inChunks(Buffer.from("x")))).rejects.toThrow(RangeError);
      await store.start(key);
      await store.append(key, 0, inChunks(patternBytes("end", 100)));
      for (const offset of [0, 99, 101])
        await expect(store.append(key, offset, inChunks(Buffer.from("x")))).rejects.toThrow(RangeError);
      expect(await store.partialLength(key)).toBe(100);
    });

    test("answer the same when completed again, and reject when they never were", async (store) => {
      const key = newKey();
      await expect(store.complete(key)).rejects.toThrow(RangeError);
      await store.start(key);
      await store.append(key, 0, inChunks(patternBytes("twice", 70_000), 999));
      const receipt = await store.complete(key);
      expect(await store.complete(key)).toEqual(receipt);
    });

    describeTakingOver(openMedium);

    test("begin once per key", async (store) => {
      const key = newKey();
      await store.start(key);
      await expect(store.start(key)).rejects.toThrow();
      await store.complete(key);
      await expect(store.start(key)).rejects.toThrow();
    });

    test("vanish when discarded", async (store) => {
      const key = newKey();
      await store.start(key);
      await store.append(key, 0, inChunks(patternBytes("discarded", 100_000), 4096));
      await store.discard(key);
      expect(await store.partialLength(key)).toBeNull();
      expect(await allOf(store.list())).toEqual([]);
      await expect(store.discard(key)).resolves.toBeUndefined();
      await store.start(key);
      expect(await store.partialLength(key)).toBe(0);
    });

    test("are no blobs to discard: a complete blob stays", async (store) => {
      const key = newKey();
      await store.put(key, inChunks(Buffer.from("complete")));
      await store.discard(key);
      expect(await store.open(key)).not.toBeNull();
    });
    describeBrokenAppends(openMedium);
    describeReopening(openMedium);
  });
}

/** The writer before is paused half-way, and goes on when another one has taken over: each on a store of its own, as processes are. */
function describeTakingOver(openMedium: OpenMedium): void {
  const test = storeTests(openMedium);

  test("are nobody's to take over when they never began", async (store) => {
    await expect(store.takeOver(newKey(), newKey())).rejects.toThrow(RangeError);
  });

  for (const { title, atomic } of [
    { title: "are taken over: what the writer before still writes is not in them", atomic: false },
    { title: "are taken over from a writer whose bytes count together or not at all", atomic: true },
  ])
    it(title, async (context) => {
      await using medium = await openMedium();
      if (!medium.survives) context.skip("nothing outlives the store here");
      await using paused = await medium.open();
      await using store = await medium.open();
      const bytes = patternBytes("taken over", 30 * MIB + 5);
      const key = newKey();
      await paused.start(key);
      await paused.append(key, 0, inChunks(bytes.subarray(0, 9 * MIB)));
      const [resume, reached] = [Promise.withResolvers<null>(), Promise.withResolvers<null>()];
      const stale = paused
        .append(key, 9 * MIB, pausing(patternBytes("stale", 18 * MIB), 9 * MIB, { resume, reached }), { atomic })
        .then(
          () => "stored",
          () => "refused",
        );
      await reached.promise;
      const at = await store.takeOver(key, newKey());
      const before = (await store.partialLength(at)) ?? Number.NaN;
      if (atomic) expect(before).toBe(9 * MIB);
      const own = Buffer.concat([
        bytes.subarray(0, 9 * MIB),
        patternBytes("stale", 18 * MIB).subarray(0, before - 9 * MIB),
        bytes.subarray(before),
      ]);
      const first = await store.append(at, before, inChunks(own.subarray(before, before + 9 * MIB), MIB));
      resume.resolve(null);
      await stale;
      expect(await store.partialLength(at)).toBe(first);
      await store.append(at, first, inChunks(own.subarray(first), MIB));
      expect(await store.complete(at)).toEqual({ size: own.length, sha256: sha256Of(own) });
      expect((await collect(await store.open(at))).equals(own)).toBe(true);
    });
}

interface Pause {
  readonly resume: PromiseWithResolvers<null>;
  readonly reached: PromiseWithResolvers<null>;
}

/** Bytes that stop coming half-way, until they are asked to go on. */
async function* pausing(bytes: Buffer, half: number, { resume, reached }: Pause): AsyncGenerator<Uint8Array> {
  yield* inChunks(bytes.subarray(0, half), MIB);
  reached.resolve(null);
  await resume.promise;
  yield* inChunks(bytes.subarray(half), MIB);
}

function describeBrokenAppends(openMedium: OpenMedium): void {
  const test = storeTests(openMedium);

  test("keep the durable part of a source that fails, and go on from there", async (store) => {
    const bytes = patternBytes("broken", 3 * MIB);
    for (const arrived of [0, 1, 65_536, 1_500_000]) {
      const key = newKey();
      await store.start(key);
      await store.append(key, 0, inChunks(bytes.subarray(0, 1000)));
      const failure = new Error("connection reset");
      await expect(
        store.append(key, 1000, failingAfter(bytes.subarray(1000, 1000 + arrived), failure, 30_000)),
      ).rejects.toBe(failure);
      const length = await store.partialLength(key);
      expect(length).toBeGreaterThanOrEqual(1000);
      expect(length).toBeLessThanOrEqual(1000 + arrived);
      await finish(store, key, bytes);
    }
  });

  test("are as before when an atomic append fails", async (store) => {
    const bytes = patternBytes("atomic", 3 * MIB);
    const key = newKey();
    await store.start(key);
    await store.append(key, 0, inChunks(bytes.subarray(0, 1234)), { atomic: true });
    const wrong = patternBytes("wrong", 2 * MIB);
    for (let turn = 0; turn < 2; turn += 1) {
      const failure = new Error("checksum mismatch");
      await expect(store.append(key, 1234, failingAfter(wrong, failure, 65_536), { atomic: true })).rejects.toBe(
        failure,
      );
      expect(await store.partialLength(key)).toBe(1234);
    }
    await finish(store, key, bytes);
  });
}

function describeReopening(openMedium: OpenMedium): void {
  it("and blobs outlive the store where the medium does", async () => {
    await using medium = await openMedium();
    const bytes = patternBytes("reopened", 2 * MIB + 5);
    const [blob, partial] = [newKey(), newKey()];
    {
      await using store = await medium.open();
      await store.put(blob, inChunks(bytes, 65_536));
      await store.start(partial);
      await store.append(partial, 0, inChunks(bytes.subarray(0, 1_200_000), 65_536));
    }
    await using store = await medium.open();
    expect(await store.partialLength(partial)).toBe(medium.survives ? 1_200_000 : null);
    expect((await allOf(store.list())).length).toBe(medium.survives ? 2 : 0);
    if (!medium.survives) return;
    expect((await collect(await store.open(blob))).equals(bytes)).toBe(true);
    await finish(store, partial, bytes);
  });
}

/** Appends what is missing and checks the result. */
async function finish(store: BlobStore, key: string, bytes: Buffer): Promise<void> {
  const length = (await store.partialLength(key)) ?? Number.NaN;
  await store.append(key, length, inChunks(bytes.subarray(length), 65_536));
  expect(await store.complete(key)).toEqual({ size: bytes.length, sha256: sha256Of(bytes) });
  expect((await collect(await store.open(key))).equals(bytes)).toBe(true);
}

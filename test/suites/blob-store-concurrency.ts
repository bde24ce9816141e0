import { describe, expect } from "vitest";
import { collect, inChunks, patternBytes, sha256Of } from "../kit/bytes.ts";
import { newKey, storeTests, type OpenMedium } from "./blob-medium.ts";

const RIVALS = Array.from({ length: 12 }, (_, index) => index);

export function describeConcurrency(openMedium: OpenMedium): void {
  const test = storeTests(openMedium);

  describe("at the same time", () => {
    test("one of several puts of a key wins, whole", async (store) => {
      const key = newKey();
      const contents = RIVALS.map((rival) => patternBytes(`rival ${rival}`, 150_000 + rival));
      const outcomes = await Promise.allSettled(contents.map((bytes) => store.put(key, inChunks(bytes, 40_000))));
      const winners = outcomes.flatMap((outcome, rival) => (outcome.status === "fulfilled" ? [rival] : []));
      expect(winners).toHaveLength(1);
      const winner = contents[winners[0] ?? -1];
      expect((await collect(await store.open(key))).equals(winner ?? Buffer.alloc(0))).toBe(true);
    });

    test("one of several appends at an offset wins, whole", async (store) => {
      const key = newKey();
      await store.start(key);
      await store.append(key, 0, inChunks(patternBytes("head", 1000)));
      const tails = RIVALS.map((rival) => patternBytes(`tail ${rival}`, 150_000 + rival));
      const outcomes = await Promise.allSettled(tails.map((bytes) => store.append(key, 1000, inChunks(bytes, 40_000))));
      const winners = outcomes.flatMap((outcome, rival) => (outcome.status === "fulfilled" ? [rival] : []));
      expect(winners).toHaveLength(1);
      for (const outcome of outcomes)
        if (outcome.status === "rejected") expect(outcome.reason).toBeInstanceOf(RangeError);
      const whole = Buffer.concat([patternBytes("head", 1000), tails[winners[0] ?? -1] ?? Buffer.alloc(0)]);
      expect(await store.complete(key)).toEqual({ size: whole.length, sha256: sha256Of(whole) });
    });

    test("many blobs are stored, partials among them, none mixed up", async (store) => {
      const contents = Array.from({ length: 40 }, (_, index) => ({
        key: newKey(),
        bytes: patternBytes(`many ${index}`, 20_000 * index + 1),
      }));
      const receipts = await Promise.all(
        contents.map(async ({ key, bytes }, index) => {
          if (index % 3 !== 0) return store.put(key, inChunks(bytes, 65_536));
          await store.start(key);
          const half = Math.floor(bytes.length / 2);
          await store.append(key, 0, inChunks(bytes.subarray(0, half), 30_001));
          await store.append(key, half, inChunks(bytes.subarray(half), 30_001));
          return store.complete(key);
        }),
      );
      expect(receipts).toEqual(contents.map(({ bytes }) => ({ size: bytes.length, sha256: sha256Of(bytes) })));
    });
  });
}

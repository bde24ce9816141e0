import fc from "fast-check";
import { describe, expect } from "vitest";
import { collect, inChunks, patternBytes } from "../kit/bytes.ts";
import type { BlobStore } from "@coffer/server/ports/blob-store";
import { newKey, storeTests, type OpenMedium } from "./blob-medium.ts";

const MIB = 1024 * 1024;

export function describeReading(openMedium: OpenMedium): void {
  const test = storeTests(openMedium);

  describe("open", () => {
    test("answers null for an unknown key", async (store) => {
      expect(await store.open(newKey())).toBeNull();
    });

    test("answers any range, cut where the blob ends", async (store) => {
      const bytes = patternBytes("ranges", 2 * MIB + 777);
      const key = newKey();
      await store.put(key, inChunks(bytes));
      const size = bytes.length;
      const corners = [
        [0, 0],
        [0, 1],
        [size - 1, 1],
        [size - 1, 100],
        [size, 5],
        [size + 5, 5],
        [0, size],
        [MIB, MIB],
        [1, size],
      ] as const;
      for (const [offset, length] of corners) {
        const range = await store.open(key, { offset, length });
        expect((await collect(range)).equals(bytes.subarray(offset, offset + length)), `${offset}+${length}`).toBe(
          true,
        );
      }
      const anywhere = fc.tuple(fc.nat(size), fc.nat(size));
      await fc.assert(
        fc.asyncProperty(anywhere, async ([offset, length]) => {
          const range = await store.open(key, { offset, length });
          return (await collect(range)).equals(bytes.subarray(offset, offset + length));
        }),
        { numRuns: 30 },
      );
    });

    test("keeps a chunk valid until the next-but-one is asked for, the last ones for ever", async (store) => {
      const bytes = patternBytes("lifetime", 7 * MIB + 99);
      const key = newKey();
      await store.put(key, inChunks(bytes));
      const held: { chunk: Uint8Array; offset: number }[] = [];
      const intact = ({ chunk, offset }: { chunk: Uint8Array; offset: number }) =>
        bytes.subarray(offset, offset + chunk.length).equals(chunk);
      let offset = 0;
      for await (const chunk of await opened(store, key)) {
        held.push({ chunk, offset });
        offset += chunk.length;
        expect(held.slice(-2).every(intact)).toBe(true);
      }
      // Another reader takes the buffers that were given back.
      await collect(await store.open(key));
      expect(held.slice(-1).every(intact)).toBe(true);
      expect(offset).toBe(bytes.length);
    });

    test("can be left early and read again, by many at once", async (store) => {
      const bytes = patternBytes("early", 4 * MIB);
      const key = newKey();
      await store.put(key, inChunks(bytes));
      for (let turn = 0; turn < 40; turn += 1) {
        const steps = (await opened(store, key))[Symbol.asyncIterator]();
        expect((await steps.next()).done).toBe(false);
        await steps.return?.();
      }
      const readers = Array.from({ length: 12 }, async () => (await collect(await store.open(key))).equals(bytes));
      expect(await Promise.all(readers)).toEqual(readers.map(() => true));
    });
  });
}

async function opened(store: BlobStore, key: string): Promise<AsyncIterable<Uint8Array>> {
  const chunks = await store.open(key);
  if (chunks === null) throw new Error("the blob is not there");
  return chunks;
}

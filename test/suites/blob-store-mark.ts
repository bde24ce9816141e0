import { describe, expect, it } from "vitest";
import { allOf, inChunks } from "../kit/bytes.ts";
import { newKey, type OpenMedium, storeTests } from "./blob-medium.ts";

export function describeMark(openMedium: OpenMedium): void {
  const test = storeTests(openMedium);

  describe("the store's mark", () => {
    test("is none at first, is made once, and is replaced by who knows it", async (store) => {
      expect(await store.readMark()).toBeNull();
      expect(await store.replaceMark("never there", "other")).toBe(false);
      expect(await store.replaceMark(null, "first\n")).toBe(true);
      expect(await store.replaceMark(null, "second\n")).toBe(false);
      expect(await store.readMark()).toBe("first\n");
      expect(await store.replaceMark("second\n", "third\n")).toBe(false);
      expect(await store.replaceMark("first\n", "fourth, and longer\n")).toBe(true);
      expect(await store.replaceMark("first\n", "fifth\n")).toBe(false);
      expect(await store.readMark()).toBe("fourth, and longer\n");
    });

    test("is none of the blobs, and they leave it alone", async (store) => {
      const key = newKey();
      await store.put(key, inChunks(Buffer.from("content")));
      expect(await store.replaceMark(null, "mark")).toBe(true);
      expect((await allOf(store.list())).map((blob) => blob.key)).toEqual([key]);
      expect(await store.removeAll([key])).toEqual(new Map());
      expect(await allOf(store.list())).toEqual([]);
      expect(await store.readMark()).toBe("mark");
    });

    it("is replaced by one of all who try at once, and each replacement is of the one before", async () => {
      await using medium = await openMedium();
      await using store = await medium.open();
      // What another process would have open.
      await using another = medium.survives ? await medium.open() : null;
      let mark: string | null = null;
      for (let round = 0; round < 8; round += 1) {
        const tried = Array.from({ length: 6 }, (_, at) => `round ${String(round)}, ${String(at)}`);
        const before: string | null = mark;
        const won = await Promise.all(
          tried.map((own, at) => (at % 2 === 0 ? store : (another ?? store)).replaceMark(before, own)),
        );
        expect(won.filter((has) => has)).toHaveLength(1);
        mark = await store.readMark();
        expect(mark).toBe(tried[won.indexOf(true)]);
        expect(await (another ?? store).readMark()).toBe(mark);
      }
    });

    it("outlives the store object", async (context) => {
      await using medium = await openMedium();
      if (!medium.survives) return context.skip("nothing survives in memory");
      {
        await using store = await medium.open();
        await store.replaceMark(null, "first");
        await store.replaceMark("first", "second");
      }
      await using store = await medium.open();
      expect(await store.readMark()).toBe("second");
    });
  });
}

import { createHash, randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { CheckedItems } from "./checked-items.ts";
import type { ExportStore } from "./export-layout.ts";

const contentOf = (id: string): Buffer => Buffer.from(`content of ${id}`);

/** A store of one reading. */
function storeOf(read: (path: string) => Uint8Array | null): ExportStore {
  return { read: (path: string) => Promise.resolve(read(path)) } as unknown as ExportStore;
}

function checked(ids: readonly string[], read: (path: string) => Uint8Array | null): CheckedItems {
  const items = new CheckedItems(storeOf(read));
  for (const id of ids) items.add("files", id, createHash("sha256").update(contentOf(id)).digest());
  return items;
}

describe("the items of an export that were checked", () => {
  it.each([0, 1, 2, 3, 60, 61, 1000])("are found again, each of %i, and no other", async (count) => {
    const ids = Array.from({ length: count }, () => randomUUID()).sort();
    const items = checked(ids, (path) => contentOf(path.slice("files/".length, -".json".length)));
    expect([...items.ids("files")]).toEqual(ids);
    expect([...items.ids("folders")]).toEqual([]);
    for (const id of ids) expect(await items.read("files", id)).toEqual(contentOf(id));
    for (const id of [randomUUID(), "0".repeat(36), "f".repeat(36), ""]) {
      expect(items.has("files", id)).toBe(false);
      await expect(items.read("files", id)).rejects.toMatchObject({ code: "damaged" });
    }
  });

  it("are refused when they are other bytes, or gone", async () => {
    const id = randomUUID();
    for (const now of [Buffer.from("other"), Buffer.concat([contentOf(id), Buffer.from(" ")]), null])
      await expect(checked([id], () => now).read("files", id)).rejects.toMatchObject({ code: "damaged" });
  });
});

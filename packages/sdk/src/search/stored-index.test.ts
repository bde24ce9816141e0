import { randomVaultKey } from "@coffer/crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nodePlatform } from "@coffer/crypto/node";
import type { OpenVault } from "../shared-vaults/open-vault.ts";
import { memoryStore } from "../store/memory-store.ts";
import { rowsOf, type ProfileStore } from "../store/profile-store.ts";
import { keyOfRow, type IndexRow, type NameRow } from "./index-rows.ts";
import { nameStore } from "./name-store.ts";
import { nameFilter, NameTable } from "./name-table.ts";
import { StoredIndex, withoutRows, type IndexHead } from "./stored-index.ts";

const VAULT_ID = "5b6a70f4-9d0c-4f0e-8d0a-0d2b1f1f6a01";
const KEY = { keyId: new Uint8Array(32).fill(2), generation: 1n, after: 0n };

/** A vault with one key, as far as an index needs it. */
function openVault(): OpenVault {
  const key = randomVaultKey(new Uint8Array(32).fill(1), { generation: 1n, after: 0n });
  const vault = { id: VAULT_ID, platform: nodePlatform, record: async () => ({}), findKey: async () => key };
  return vault as unknown as OpenVault;
}

function idOf(at: number): string {
  return `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`;
}

function fileOf(at: number, folderId: string | null, revision = 1): NameRow {
  const [id, time] = [idOf(at), new Date(at * 1000).toISOString()];
  const facts = { versionId: id, revision, name: `report ${String(at)}.txt`, contentType: "text/plain", size: at };
  return {
    id,
    folderId,
    ...facts,
    createdAt: time,
    updatedAt: time,
    createdBy: null,
    updatedBy: null,
    trashedAt: null,
    tag: `"${String(revision)}"`,
    sha256: "0".repeat(64),
  };
}

/** All rows by way of pages of that size. */
async function readAll(index: StoredIndex, head: IndexHead, limit: number, prefix?: string): Promise<IndexRow[]> {
  const rows: IndexRow[] = [];
  for (let after: string | null = null; ;) {
    const page = await index.readRows(head, { prefix, after, limit });
    if (page === null) throw new Error("not that index");
    expect(page.rows.length).toBeLessThanOrEqual(limit);
    rows.push(...page.rows);
    if (page.next === null) return rows;
    after = page.next;
  }
}

async function open(vault = openVault(), profile: ProfileStore = memoryStore()) {
  const store = nameStore(profile);
  const write = (index: StoredIndex, head: IndexHead | null, table: NameTable, changes = "c") =>
    index.write(head, { changes, building: null, listedAt: 1, key: KEY, rows: table.updates() });
  return { vault, profile, store, index: new StoredIndex(vault, store), write };
}

/** An index of so many files in two folders and at the top. */
async function openWith(files: number) {
  const opened = await open();
  const table = new NameTable();
  for (let at = 0; at < files; at += 1) table.put(fileOf(at, [idOf(1), idOf(2), null][at % 3] ?? null));
  const head = await opened.write(opened.index, null, table);
  if (head === null) throw new Error("not written");
  table.markStored();
  return { ...opened, table, head };
}

const act = fc.oneof(
  fc.record({ act: fc.constant("put" as const), at: fc.nat(40), folder: fc.nat(3) }),
  fc.record({ act: fc.constant("remove" as const), at: fc.nat(40), folder: fc.nat(3) }),
  fc.record({ act: fc.constant("unreadable" as const), at: fc.nat(40), folder: fc.nat(3) }),
  fc.record({ act: fc.constant("folder" as const), at: fc.nat(3), folder: fc.nat(3) }),
  fc.record({ act: fc.constant("save" as const), at: fc.nat(1), folder: fc.nat(1) }),
);

describe("the stored index of names", () => {
  it("shows in pages of any size what the table has, after whatever changes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 60 }), fc.integer({ min: 1, max: 7 }), async (acts, limit) => {
        const { index, write } = await open();
        const table = new NameTable();
        /** Keys of rows, by what they are of. */
        const expected = new Map<string, string>();
        let head: IndexHead | null = null;
        for (const { act: kind, at, folder } of [...acts, { act: "save", at: 0, folder: 0 } as const]) {
          const folderId = folder === 0 ? null : idOf(folder);
          const id = idOf(kind === "folder" ? 500 + at : at);
          if (kind === "put") {
            table.put(fileOf(at, folderId));
            expected.set(`file ${id}`, `file ${folderId ?? "top"} ${id}`);
          } else if (kind === "remove") {
            table.remove(id);
            expected.delete(`file ${id}`);
          } else if (kind === "unreadable") {
            table.putUnreadable(id, { item: "file", parentId: folderId, trashedAt: null, code: "damaged" });
            expected.set(`file ${id}`, `unreadable ${id}`);
          } else if (kind === "folder") {
            table.putFolder(id, { name: "f", tag: "t", parentId: folderId, trashedAt: null });
            expected.set(`folder ${id}`, `folder ${folderId ?? "top"} ${id}`);
          } else {
            head = await write(index, head, table);
            table.markStored();
          }
        }
        if (head === null) throw new Error("not written");
        const loaded = await index.load();
        const rows = await readAll(index, head, limit);
        const keys = rows.map(keyOfRow);
        expect(keys).toEqual([...keys].sort());
        expect(keys).toEqual([...expected.values()].sort());
        const namesIn = (from: NameTable | undefined) => from?.search(nameFilter({}), null, 100).map(({ row }) => row);
        expect(namesIn(loaded?.table)).toEqual(namesIn(table));
        expect([loaded?.table.folders, loaded?.table.unreadable]).toEqual([table.folders, table.unreadable]);
      }),
      { numRuns: 60 },
    );
  });

  it("reads the rows of one folder without those of others, and writes the pages alone that have changed", async () => {
    const { index, profile, table, head, write } = await openWith(5_000);
    const inFolder = await readAll(index, head, 100, `file ${idOf(2)} `);
    expect(inFolder.map(({ id }) => id)).toEqual(
      Array.from({ length: 1_667 }, (_, at) => idOf(3 * at + 1)).filter((id) => id <= idOf(4_999)),
    );
    const names = async () => {
      const found: string[] = [];
      for await (const { key } of rowsOf(profile.table(`names-${VAULT_ID}`), "page ")) found.push(key);
      return found;
    };
    const before = await names();
    table.put(fileOf(7, null));
    const next = await write(index, head, table, "d");
    const after = await names();
    // It left one folder and came to the top: two pages, and no other.
    expect(before.filter((name) => !after.includes(name))).toHaveLength(2);
    expect(next?.changes).toBe("d");
    expect((await index.load())?.table.below(idOf(2))).toHaveLength(1_666);
  });

  it("refuses a write over another process's, changes nothing then, and is whole for readers in between", async () => {
    const { vault, store, index, table, head, write } = await openWith(1_000);
    const other = new StoredIndex(vault, store);
    const others = await other.load();
    if (others === null) throw new Error("no index");
    others.table.remove(idOf(3));
    expect(await write(other, others.head, others.table, "d")).not.toBeNull();
    table.remove(idOf(4));
    expect(await write(index, head, table, "e")).toBeNull();
    const now = await index.load();
    expect([now?.head.changes, now?.table.below(idOf(1)).length]).toEqual(["d", 333]);
    // A reader of the head before is told so, and never gets rows of two times.
    expect(await index.readRows(head, { limit: 10_000 })).toBeNull();
  });

  it("leaves no page of an index that begins anew", async () => {
    const { index, profile, head, write } = await openWith(1_000);
    const table = new NameTable();
    table.put(fileOf(1, null));
    expect(await write(index, withoutRows(head), table)).not.toBeNull();
    const keys: string[] = [];
    for await (const { key } of rowsOf(profile.table(`names-${VAULT_ID}`))) keys.push(key.split(" ")[0] ?? "");
    expect(keys).toEqual(["head", "page"]);
  });

  it("begins anew when a page is missing, another one's, altered, or of another key, and deletes what is left", async () => {
    const spoil = [
      (pages: (readonly [string, Uint8Array])[]) => [[pages[0]?.[0] ?? "", null] as const],
      (pages: (readonly [string, Uint8Array])[]) => [[pages[0]?.[0] ?? "", pages[1]?.[1] ?? null] as const],
      (pages: (readonly [string, Uint8Array])[]) =>
        pages.slice(0, 1).map(([key, value]) => [key, value.with(-1, (value.at(-1) ?? 0) ^ 1)] as const),
      (pages: (readonly [string, Uint8Array])[]) =>
        pages.slice(0, 1).map(([key, value]) => [key, value.with(0, 9)] as const),
      (pages: (readonly [string, Uint8Array])[]) =>
        pages.slice(0, 1).map(([key, value]) => [key, value.subarray(0, 40)] as const),
    ];
    for (const change of spoil) {
      const { index, profile } = await openWith(2_000);
      const names = profile.table(`names-${VAULT_ID}`);
      const pages: (readonly [string, Uint8Array])[] = [];
      for await (const { key, value } of rowsOf(names, "page ")) pages.push([key, value]);
      await names.write(change(pages).map(([key, value]) => ({ key, value })));
      expect(await index.load()).toBeNull();
      expect(await profile.tables("names-")).toEqual([]);
    }
  });
});

import { rankName, searchWords } from "@coffer/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { NameRow } from "./index-rows.ts";
import { decodePage, encodePage } from "./index-text.ts";
import { compareSortKeys, NameTable, nameFilter, type SortKey } from "./name-table.ts";

const piece = fc.constantFrom(..."aAbßẞéE\u0301İıſσς ._-7你👍".split(""), "ab", "ﬁ", "sum");
const text = fc.array(piece, { minLength: 1, maxLength: 8 }).map((pieces) => pieces.join(""));
const time = (at: number): string => new Date(at * 1000).toISOString();

function rowOf(name: string, at: number, more: Partial<NameRow> = {}): NameRow {
  const id = `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`;
  const [createdAt, updatedAt] = [time(at % 5), time(at)];
  const place = { id, versionId: id, revision: 1, folderId: null, trashedAt: null };
  const authors = { createdBy: null, updatedBy: null, tag: "t", sha256: "0".repeat(64) };
  return { ...place, name, contentType: "text/plain", size: at, createdAt, updatedAt, ...authors, ...more };
}

function tableOf(rows: readonly NameRow[]): NameTable {
  const table = new NameTable();
  for (const row of rows) table.put(row);
  return table;
}

describe("the table of names", () => {
  it("finds what a look at every name finds, in the same order, page by page, also when it was stored", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { maxLength: 20 }),
        text,
        fc.integer({ min: 1, max: 4 }),
        async (names, q, most) => {
          const rows = names.map((name, at) => rowOf(name, at));
          const wanted = nameFilter({ q });
          const expected = rows
            .flatMap((row) => {
              const rank = rankName(searchWords(row.name), searchWords(q));
              return rank === null ? [] : [{ rank, made: Date.parse(row.createdAt), id: row.id }];
            })
            .sort(compareSortKeys);
          const page = rows.map((file) => ({ kind: "file", id: file.id, file }) as const);
          const stored = new NameTable();
          for (const row of (await decodePage("p", await encodePage("p", page))) ?? []) stored.load(row);
          for (const table of [tableOf(rows), stored]) {
            const found: SortKey[] = [];
            for (
              let page = table.search(wanted, null, most);
              page.length > 0;
              page = table.search(wanted, found.at(-1) ?? null, most)
            )
              found.push(...page);
            expect(found.map(({ rank, made, id }) => ({ rank, made, id }))).toEqual(expected);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it("climbs to a folder over any number of levels, and ends in a ring", () => {
    const folder = (parentId: string | null) => ({ name: "f", tag: "t", parentId, trashedAt: null });
    const table = tableOf([rowOf("deep", 1, { folderId: "d99" }), rowOf("ringed", 2, { folderId: "r1" })]);
    for (let at = 0; at < 100; at += 1)
      table.putFolder(`d${String(at)}`, folder(at === 0 ? null : `d${String(at - 1)}`));
    table.putFolder("r1", folder("r2"));
    table.putFolder("r2", folder("r1"));
    const below = (folderId: string) => table.search(nameFilter({ folderId }), null, 9).map(({ row }) => row.name);
    expect([below("d0"), below("r2"), below("d99"), below("other")]).toEqual([["deep"], ["ringed"], ["deep"], []]);
  });
});

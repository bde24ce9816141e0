/** What every profile store must do, whatever its medium. */
import type { RowChange, ProfileStore, Table } from "@coffer/sdk";
import { followTable, rowsOf } from "@coffer/sdk/shared";
import { beforeEach, describe, expect, it } from "vitest";

/** A medium that outlives processes, or stands for one. */
export interface StoreMedium {
  /** The store as another process opens it. */
  open(): ProfileStore;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (value: Uint8Array | null | undefined): string | null =>
  value == null ? null : new TextDecoder().decode(value);
const row = (key: string, value: string | null): RowChange => ({ key, value: value === null ? null : bytes(value) });

async function contentOf(table: Table, prefix?: string): Promise<Record<string, string | null>> {
  const found: Record<string, string | null> = {};
  for await (const { key, value } of rowsOf(table, prefix, 3)) found[key] = text(value);
  return found;
}

async function follow(table: Table, known: Map<string, string>, since: string | null): Promise<string> {
  return followTable(table, since, {
    clear: () => {
      known.clear();
    },
    set: (key, value) => {
      known.delete(key);
      if (value !== null) known.set(key, text(value) ?? "");
    },
  });
}

export function describeProfileStore(openMedium: () => StoreMedium | Promise<StoreMedium>): void {
  let medium: StoreMedium;
  let one: ProfileStore;
  let other: ProfileStore;

  beforeEach(async () => {
    medium = await openMedium();
    one = medium.open();
    other = medium.open();
  });

  describe("a table", () => {
    it("has no rows at first, and makes none by being read", async () => {
      const table = one.table("t");
      expect(await table.get("a")).toBeNull();
      expect(await table.page({ limit: 10 })).toEqual({ rows: [], next: null });
      expect(await table.changes(null)).toMatchObject({ isAnew: true, changes: [], isMore: false });
      await table.clear();
      await table.write([]);
      expect(await one.tables("")).toEqual([]);
    });

    it("keeps rows for every other process, with any bytes and any key", async () => {
      const keys = ["a", "zwölf", "with space", "line\nbreak", "nul\0", "𝄞", "constructor", "k".repeat(4_000)];
      const all = Uint8Array.from({ length: 256 }, (_, at) => at);
      await one.table("t").write(keys.map((key) => ({ key, value: all })));
      await one.table("t").write([{ key: "empty", value: new Uint8Array(0) }]);
      for (const key of keys) expect(await other.table("t").get(key)).toEqual(all);
      expect(await other.table("t").get("empty")).toEqual(new Uint8Array(0));
      expect(await other.table("u").get("a")).toBeNull();
    });

    it("gives out values of its own: a change of one changes no row", async () => {
      const value = bytes("before");
      await one.table("t").write([{ key: "a", value }]);
      value.fill(0);
      (await one.table("t").get("a"))?.fill(0);
      expect(text(await one.table("t").get("a"))).toBe("before");
    });

    it("takes the last change of each key, and forgets deleted rows", async () => {
      const table = one.table("t");
      await table.write([row("a", "1"), row("b", "1"), row("a", "2")]);
      await table.write([row("b", null), row("c", null)]);
      expect(await contentOf(other.table("t"))).toEqual({ a: "2" });
      await table.write([row("b", "3")]);
      expect(await contentOf(other.table("t"))).toEqual({ a: "2", b: "3" });
    });

    it("refuses keys and names that it could not keep, and keeps nothing of that write", async () => {
      for (const key of ["", "k".repeat(65_536)])
        await expect(one.table("t").write([row("a", "1"), row(key, "1")])).rejects.toThrow(RangeError);
      expect(await one.table("t").get("a")).toBeNull();
      for (const name of ["", "A", "a/b", "..", "a.b", "n".repeat(121)]) {
        expect(() => one.table(name)).toThrow(TypeError);
        await expect(one.lock(name, 0)).rejects.toThrow(TypeError);
      }
    });

    it("lists pages in the order of keys, of all or of a prefix, also while it changes", async () => {
      const keys = ["f/10", "f/2", "f/a", "d/1", "d/2", "", "zz"].map((key) => `v${key}`);
      await one.table("t").write(keys.map((key) => row(key, key)));
      const table = other.table("t");
      const sorted = [...keys].sort();
      expect(Object.keys(await contentOf(table))).toEqual(sorted);
      const first = await table.page({ prefix: "vf/", limit: 2 });
      expect([first.rows.map(({ key }) => key), first.next]).toEqual([["vf/10", "vf/2"], "vf/2"]);
      await one.table("t").write([row("vf/10", null), row("vf/3", "late"), row("vf/1", "missed")]);
      const second = await table.page({ prefix: "vf/", after: first.next, limit: 2 });
      expect([second.rows.map(({ key }) => key), second.next]).toEqual([["vf/3", "vf/a"], null]);
      expect(await table.page({ prefix: "none", limit: 1 })).toEqual({ rows: [], next: null });
      expect((await table.page({ prefix: "vz", after: "a", limit: 1 })).rows.map(({ key }) => key)).toEqual(["vzz"]);
      expect(await table.page({ prefix: "vf/", after: "vz", limit: 1 })).toEqual({ rows: [], next: null });
    });

    it("tells what was written since, in the order of writing, with what was deleted", async () => {
      const [table, known] = [other.table("t"), new Map<string, string>()];
      await one.table("t").write([row("b", "1"), row("a", "1")]);
      let cursor = await follow(table, known, null);
      expect([...known]).toEqual([
        ["b", "1"],
        ["a", "1"],
      ]);
      await one.table("t").write([row("b", "2"), row("c", "1")]);
      await table.write([row("a", null)]);
      const answer = await table.changes(cursor);
      expect(answer.isAnew).toBe(false);
      expect(new Map(answer.changes.map(({ key, value }) => [key, text(value)]))).toEqual(
        new Map([
          ["b", "2"],
          ["c", "1"],
          ["a", null],
        ]),
      );
      cursor = await follow(table, known, cursor);
      expect([...known]).toEqual([
        ["b", "2"],
        ["c", "1"],
      ]);
      expect(await table.changes(cursor)).toMatchObject({ isAnew: false, changes: [], isMore: false });
    });

    it("is followed truly however often it is emptied and written over", async () => {
      const [table, known] = [other.table("t"), new Map<string, string>()];
      let cursor: string | null = null;
      for (let round = 0; round < 12; round += 1) {
        await one.table("t").write([row("big", "x".repeat(50_000) + String(round)), row(`k${String(round)}`, "1")]);
        if (round % 4 === 3) await one.table("t").clear();
        if (round % 3 === 0) cursor = await follow(table, known, cursor);
      }
      await one.table("t").write([row("end", "1")]);
      await follow(table, known, cursor);
      expect(Object.fromEntries(known)).toEqual(await contentOf(one.table("t")));
    });

    it("is emptied for all, and is no table any more", async () => {
      await one.table("t-a").write([row("a", "1")]);
      await one.table("t-b").write([row("a", "1")]);
      await other.table("u").write([row("a", "1")]);
      expect(await other.tables("t-")).toEqual(["t-a", "t-b"]);
      await other.table("t-a").clear();
      await other.table("t-b").write([row("a", null)]);
      expect(await one.tables("")).toEqual(["u"]);
      expect([await one.table("t-a").get("a"), await one.table("t-b").get("a")]).toEqual([null, null]);
      await one.table("t-a").write([row("b", "2")]);
      expect(await contentOf(other.table("t-a"))).toEqual({ b: "2" });
    });

    it("keeps its rows when it leaves no traces of former ones", async () => {
      const table = one.table("t");
      await table.write([row("a", "1"), row("b", "1")], { erase: true });
      await table.write([row("a", "2"), row("c", "1")], { erase: true, durability: "relaxed" });
      await table.write([row("b", null)], { erase: true });
      expect(await contentOf(other.table("t"))).toEqual({ a: "2", c: "1" });
      await table.write([row("a", null), row("c", null)], { erase: true });
      expect(await one.tables("")).toEqual([]);
    });
  });

  describe("an update", () => {
    it("reads and writes in one step: of many at once none is lost", async () => {
      await Promise.all(
        Array.from({ length: 40 }, (_, at) =>
          (at % 2 === 0 ? one : other).table("t").update(
            ["count"],
            (rows) => {
              const count = Number(text(rows.get("count")) ?? "0") + 1;
              return { result: count, changes: [row("count", String(count)), row(`by ${String(at)}`, "1")] };
            },
            { durability: at % 3 === 0 ? "relaxed" : "strict" },
          ),
        ),
      );
      expect(text(await one.table("t").get("count"))).toBe("40");
      expect(Object.keys(await contentOf(other.table("t"), "by "))).toHaveLength(40);
    });

    it("resolves with its result, and changes nothing if it says nothing or throws", async () => {
      const table = one.table("t");
      expect(await table.update(["a", "b"], (rows) => ({ result: rows.size, changes: [row("a", "1")] }))).toBe(0);
      expect(await table.update(["a", "b"], (rows) => ({ result: [...rows.keys()] }))).toEqual(["a"]);
      const failing = table.update(["a"], () => {
        throw new Error("no");
      });
      await expect(failing).rejects.toThrow("no");
      expect(await contentOf(other.table("t"))).toEqual({ a: "1" });
    });
  });

  describe("a large table", () => {
    it("of 30,000 rows is written in batches, followed, and read in pages", async () => {
      const table = one.table("t");
      const keyOf = (at: number): string => `f/${String(at).padStart(6, "0")}`;
      for (let from = 0; from < 30_000; from += 5_000)
        await table.write(
          Array.from({ length: 5_000 }, (_, at) => row(keyOf(from + at), `value of ${String(from + at)}`)),
          { durability: "relaxed" },
        );
      await table.write([row(keyOf(7), "changed"), row(keyOf(8), null), row("z", "")]);
      let rows = 0;
      for await (const { key, value } of rowsOf(other.table("t"), "f/")) {
        if (rows === 7) expect([key, text(value)]).toEqual([keyOf(7), "changed"]);
        rows += 1;
      }
      expect(rows).toBe(29_999);
      const known = new Map<string, string>();
      await follow(medium.open().table("t"), known, null);
      expect([known.size, known.get(keyOf(29_999)), known.has(keyOf(8))]).toEqual([30_000, "value of 29999", false]);
    });
  });

  describe("a lock", () => {
    it("has one holder, is waited for, and stops no table", async () => {
      const held = await one.lock("work", 0);
      expect(held).not.toBeNull();
      expect(await other.lock("work", 0)).toBeNull();
      expect(await other.lock("work", 20)).toBeNull();
      await using elsewhere = await other.lock("other-work", 0);
      expect(elsewhere).not.toBeNull();
      await other.table("work").write([row("a", "1")]);
      const waiting = other.lock("work", 10_000);
      await held?.[Symbol.asyncDispose]();
      await using next = await waiting;
      expect(next).not.toBeNull();
      expect(await one.lock("work", 0)).toBeNull();
    });
  });
}

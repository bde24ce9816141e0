import fc from "fast-check";
import { expect, test } from "vitest";
import { ServiceError } from "../service-error.ts";
import { newestFirst, parsePage, toPage } from "./paging.ts";

const row = fc.record({ id: fc.uuid(), created_at: fc.integer({ min: 0, max: 2 ** 48 - 1 }) });

test("a cursor leads back to the row it was made from", () => {
  fc.assert(
    fc.property(row, row, (last, more) => {
      const page = toPage([last, more], parsePage("files", { limit: 1 }));
      const next = parsePage("files", { cursor: page.nextCursor ?? "" });
      expect(next).toEqual({ list: "files", limit: 100, after: { createdAt: last.created_at, id: last.id } });
    }),
  );
});

test("the last page has no cursor", () => {
  const rows = [{ id: "a", created_at: 1 }];
  expect(toPage(rows, parsePage("files", { limit: 1 }))).toEqual({ rows, nextCursor: null });
  expect(toPage([], parsePage("files", {}))).toEqual({ rows: [], nextCursor: null });
});

test("every altered cursor, and one of another list, is refused with 400", () => {
  const rows = [
    { id: "0b9f3a34-5c0e-4a53-9d7f-3f1f7f0d9a11", created_at: 1_790_000_000_000 },
    { id: "0b9f3a34-5c0e-4a53-9d7f-3f1f7f0d9a12", created_at: 1 },
  ];
  const cursor = toPage(rows, parsePage("files", { limit: 1 })).nextCursor ?? "";
  const altered = [...cursor].map(
    (letter, index) => cursor.slice(0, index) + (letter === "A" ? "B" : "A") + cursor.slice(index + 1),
  );
  for (const text of [...altered, cursor.slice(1), `${cursor}A`, `${cursor}=`, ` ${cursor}`, "x", ""]) {
    expect(() => parsePage("files", { cursor: text }), text).toThrow(ServiceError);
  }
  expect(() => parsePage("folders", { cursor })).toThrow("not a cursor of this list");
});

test("newest first, then the greater id, is a total order", () => {
  fc.assert(
    fc.property(fc.array(row), (rows) => {
      const sorted = rows.toSorted(newestFirst);
      for (const [index, current] of sorted.slice(1).entries()) {
        const before = sorted[index];
        expect(
          before &&
            (before.created_at > current.created_at ||
              (before.created_at === current.created_at && before.id >= current.id)),
        ).toBe(true);
      }
    }),
  );
});

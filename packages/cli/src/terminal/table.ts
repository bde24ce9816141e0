import type { Column } from "../result.ts";
import { visibleText, widthOf } from "./visible.ts";

/** A table for people: titles, then a line for each item. Columns without any value are left out. */
export function tableText(
  columns: readonly Column<unknown>[],
  items: readonly unknown[],
  paintTitles: (line: string) => string,
): string {
  const cells = columns.map(({ title, of, isNumber }) => ({
    title: title.toUpperCase(),
    isNumber: isNumber === true,
    values: items.map((item) => visibleText(of(item))),
  }));
  const filled = cells.filter(({ values }) => values.some((value) => value !== ""));
  const sized = filled.map((column) => ({
    ...column,
    width: [column.title, ...column.values].reduce((most, value) => Math.max(most, widthOf(value)), 0),
  }));
  const line = (valueOf: (column: (typeof sized)[number]) => string): string =>
    sized
      .map((column) => {
        const value = valueOf(column);
        const room = " ".repeat(column.width - widthOf(value));
        return column.isNumber ? room + value : value + room;
      })
      .join("  ")
      .trimEnd();
  return [
    paintTitles(line(({ title }) => title)),
    ...items.map((_item, at) => line(({ values }) => values[at] ?? "")),
  ].join("\n");
}

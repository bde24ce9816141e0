/** What PostgreSQL answers, as the values that SQLite answers: numbers are numbers, and truth is 1 or 0. */
import { types } from "pg";

const { builtins } = types;

/** Sizes and times of ours are far below 2^53; a number beyond it would be wrong without a word. */
function toSafeNumber(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new RangeError(`the number ${text} of the database is not exact in JavaScript`);
  return value;
}

const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [builtins.INT8, toSafeNumber],
  [builtins.NUMERIC, toSafeNumber],
  [builtins.INT4, Number],
  [builtins.INT2, Number],
  [builtins.FLOAT8, Number],
  [builtins.BOOL, (text) => (text === "t" ? 1 : 0)],
]);

const asText = (text: string): string => text;

export const TYPES = {
  getTypeParser: (type: number) => PARSERS.get(type) ?? asText,
} as typeof types;

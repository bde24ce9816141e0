/** What a command returns: one value for programs, and the same for people. */
import type { Untrusted } from "@coffer/tasks";
import { EXIT, type ExitCode } from "./exit-codes.ts";

/**
 * A cell of a table or a part of a line. Text of others is Untrusted, and is made harmless when it is shown. So are lines for others
 * to run: in strings, commands of this program are printed as its reader started it.
 */
export type Printable = string | number | Untrusted | null | undefined;

export interface Document {
  readonly kind: "document";
  /** What `--json` prints. */
  readonly json: unknown;
  /** Lines for people. */
  readonly lines: readonly Printable[];
  readonly exit: ExitCode;
  /** Secrets that this result is there to show, such as a new key. All others are taken out. */
  readonly reveals: readonly string[];
}

export interface Column<Item> {
  readonly title: string;
  readonly of: (item: Item) => Printable;
  /** Numbers are flush right. */
  readonly isNumber?: boolean;
}

export interface Listing {
  readonly kind: "listing";
  /** The field of the JSON document that holds the items. */
  readonly name: string;
  readonly items: readonly unknown[];
  /** The other fields of the document, such as `nextCursor`. */
  readonly otherFields: Readonly<Record<string, unknown>>;
  readonly columns: readonly Column<unknown>[];
  /** Printed when there are none. */
  readonly empty: string;
  /** Printed after the table, for people. */
  readonly after: readonly Printable[];
  readonly exit: ExitCode;
}

/** It wrote everything itself, such as the bytes of a file. */
export interface Written {
  readonly kind: "written";
  readonly exit: ExitCode;
}

export type Result = Document | Listing | Written;

interface DocumentOptions {
  readonly exit?: ExitCode;
  readonly reveals?: readonly string[];
}

export const done = (json: unknown, lines: readonly Printable[], options: DocumentOptions = {}): Document => ({
  kind: "document",
  json,
  lines,
  exit: options.exit ?? EXIT.done,
  reveals: options.reveals ?? [],
});

export interface ListingOptions<Item> {
  readonly name: string;
  readonly items: readonly Item[];
  readonly columns: readonly Column<Item>[];
  readonly empty: string;
  readonly otherFields?: Readonly<Record<string, unknown>>;
  readonly after?: readonly Printable[];
  readonly exit?: ExitCode;
}

export function listing<Item>(words: ListingOptions<Item>): Listing {
  const { name, items, empty, otherFields = {}, after = [], exit = EXIT.done } = words;
  // Each column is asked about items of this very list.
  return {
    kind: "listing",
    name,
    items,
    empty,
    otherFields: otherFields,
    after,
    exit,
    columns: words.columns as readonly Column<unknown>[],
  };
}

export const written = (exit: ExitCode = EXIT.done): Written => ({ kind: "written", exit });

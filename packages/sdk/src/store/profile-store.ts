/**
 * The one place where a client keeps what outlives its process: pins, seen statements, unfinished uploads and creations,
 * the state of folders, saved sessions and the indexes of names. In Node it is a directory of files (`fileStore`); a page
 * brings the same interface over IndexedDB.
 */

/** Rows by key in named tables. You may call its methods at any time, from several processes or pages. */
export interface ProfileStore {
  /** The table of that name: 1 to 120 of `a-z 0-9 -`. Nothing is made before its first row. */
  table(name: string): Table;
  /** Names of the tables that have rows and begin with `prefix`, in order. */
  tables(prefix: string): Promise<readonly string[]>;
  /**
   * Acquires a lock of that name among all processes or pages that share the store, as for a table. Dispose it to let the
   * next one in; the lock of a process that was killed is free. null: another one holds it after `waitMs`.
   */
  lock(name: string, waitMs: number): Promise<AsyncDisposable | null>;
  /** Whether an error of the store says that nothing can be kept here, such as on a read-only system: some work goes on without it. */
  cannotKeep(error: unknown): boolean;
}

/** All methods reject with SdkError `configuration` for a damaged table, which nothing begins anew: the message names the repair. */
export interface Table {
  /** null: there is no such row. */
  get(key: string): Promise<Uint8Array | null>;
  /** Rows in the order of their keys, by UTF-16 code units. */
  page(range: KeyRange): Promise<RowPage>;
  /** What was written since `since`, which is the `cursor` of an earlier answer; null: all rows. In the order of writing. */
  changes(since: string | null): Promise<RowChanges>;
  /**
   * Reads the rows of `keys`, and writes what `decide` makes of them, in one step that no other process or page
   * interrupts. All changes are kept, or none. Resolves with the result of `decide` when they are kept as `how` says.
   * `decide` must not wait for anything. If it throws, nothing is changed.
   */
  update<Result>(
    keys: readonly string[],
    decide: (rows: Rows) => TableUpdate<Result>,
    how?: WriteOptions,
  ): Promise<Result>;
  /** Writes without reading: all changes are kept, or none. */
  write(changes: readonly RowChange[], how?: WriteOptions): Promise<void>;
  /** Deletes all rows, with whatever the medium still has of them. */
  clear(): Promise<void>;
}

export interface Row {
  /** 1 to 65,535 bytes in UTF-8. */
  readonly key: string;
  readonly value: Uint8Array;
}

/** A row to write; with null: to delete. */
export interface RowChange {
  readonly key: string;
  readonly value: Uint8Array | null;
}

/** Values by key; a row that is not there has none. */
export type Rows = ReadonlyMap<string, Uint8Array>;

export interface TableUpdate<Result> {
  readonly result: Result;
  /** Default: nothing is changed. */
  readonly changes?: readonly RowChange[] | undefined;
}

export interface KeyRange {
  /** Keys that begin so. Default: every key. */
  readonly prefix?: string | undefined;
  /** Keys behind this one: `next` of the page before. Default: from the first one on. */
  readonly after?: string | null | undefined;
  /** Rows at most. */
  readonly limit: number;
}

export interface RowPage {
  readonly rows: readonly Row[];
  /** For `after`; null: there are no more. */
  readonly next: string | null;
}

export interface RowChanges {
  /** The first of them follow on nothing: forget what earlier answers said. */
  readonly isAnew: boolean;
  readonly changes: readonly RowChange[];
  /** For the next question. */
  readonly cursor: string;
  /** There are more by now: ask again at once. */
  readonly isMore: boolean;
}

export interface WriteOptions {
  /** `strict`: what is resolved survives a power failure. `relaxed`: it survives the end of the process. Default: `strict`. */
  readonly durability?: "strict" | "relaxed" | undefined;
  /** Leaves nothing in the medium of what the table held before. For secrets. Default: false. */
  readonly erase?: boolean | undefined;
}

/** Every row of the table whose key begins so, a page at a time. */
export async function* rowsOf(table: Table, prefix = "", limit = 1_000): AsyncGenerator<Row, void, undefined> {
  let after: string | null = null;
  do {
    const page: RowPage = await table.page({ prefix, after, limit });
    yield* page.rows;
    after = page.next;
  } while (after !== null);
}

/** What somebody keeps of a table in memory. */
export interface TableCopy {
  /** Nothing of it is there any more. */
  clear(): void;
  /** A row as it is now; null: it was deleted. */
  set(key: string, value: Uint8Array | null): void;
}

/** Brings a copy up to date. Resolves with the cursor for the next time; `since`: that of the last time, or null. */
export async function followTable(table: Table, since: string | null, copy: TableCopy): Promise<string> {
  for (let cursor = since; ;) {
    const answer: RowChanges = await table.changes(cursor);
    if (answer.isAnew) copy.clear();
    for (const { key, value } of answer.changes) copy.set(key, value);
    cursor = answer.cursor;
    if (!answer.isMore) return cursor;
  }
}

/** The key in UTF-8. @throws RangeError for one that is too short or too long. */
export function requireKey(key: string): Uint8Array {
  const bytes = new TextEncoder().encode(key);
  if (bytes.length === 0 || bytes.length > 65_535) throw new RangeError("a key has 1 to 65,535 bytes");
  return bytes;
}

/** @throws TypeError for a name that no table or lock may have. */
export function requireName(name: string): string {
  if (!/^[a-z0-9-]{1,120}$/.test(name)) throw new TypeError(`not the name of a table or lock: ${name}`);
  return name;
}

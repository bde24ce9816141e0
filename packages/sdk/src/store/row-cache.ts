import { followTable, type Table } from "./profile-store.ts";

/** The rows of a small table in memory. Each reading brings it up to date; a row that has not changed is decoded once. */
export class RowCache<Value> {
  readonly #table: Table;
  readonly #decode: (value: Uint8Array, key: string) => Value;
  readonly #rows = new Map<string, Value>();
  #cursor: string | null = null;
  /** One reading at a time: an answer never overtakes a later one. */
  #refreshing: Promise<void> = Promise.resolve();

  constructor(table: Table, decode: (value: Uint8Array, key: string) => Value) {
    this.#table = table;
    this.#decode = decode;
  }

  /** All rows as they are now, of this process and of all others. */
  async read(): Promise<ReadonlyMap<string, Value>> {
    const refreshing = this.#refreshing.catch(() => undefined).then(() => this.#refresh());
    this.#refreshing = refreshing;
    await refreshing;
    return this.#rows;
  }

  async #refresh(): Promise<void> {
    // A row that cannot be decoded is read again the next time: the cursor stays where it is.
    this.#cursor = await followTable(this.#table, this.#cursor, {
      clear: () => {
        this.#rows.clear();
      },
      set: (key, value) => {
        if (value === null) this.#rows.delete(key);
        else this.#rows.set(key, this.#decode(value, key));
      },
    });
  }
}

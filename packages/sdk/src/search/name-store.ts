/** Where the local indexes of names are kept between runs. */
import type { ProfileStore, RowChange, Table } from "../store/profile-store.ts";

/** Where the local indexes of names are kept between runs: rows for each vault, encrypted (file-format §14). */
export interface NameStore {
  /** A row of a vault's index; null: there is none. */
  get(vaultId: string, key: string): Promise<Uint8Array | null>;
  /**
   * Makes all changes, or none. false: the row `head` is not `before` any more, because another process has written, and
   * nothing is changed. null: there is no such row.
   */
  replace(vaultId: string, before: Uint8Array | null, changes: readonly RowChange[]): Promise<boolean>;
  /** Deletes an index. The next search of the vault builds it again. */
  delete(vaultId: string): Promise<void>;
  /** UUIDs of the vaults that have one. */
  list(): Promise<readonly string[]>;
}

/** The row that each change of an index replaces. */
export const HEAD = "head";
const TABLE = "names-";

/** Keeps each vault's index in a table of its own. Without a place to write, nothing is kept. */
export function nameStore(store: ProfileStore): NameStore {
  const tableOf = (vaultId: string): Table => {
    if (!/^[0-9a-f-]{36}$/.test(vaultId)) throw new TypeError("not the id of a vault");
    return store.table(`${TABLE}${vaultId}`);
  };
  const orNone = async <Value>(none: Value, use: () => Promise<Value>): Promise<Value> => {
    try {
      return await use();
    } catch (error) {
      if (store.cannotKeep(error)) return none;
      throw error;
    }
  };
  return {
    get: (vaultId, key) => orNone(null, () => tableOf(vaultId).get(key)),
    replace: (vaultId, before, changes) =>
      orNone(true, () =>
        tableOf(vaultId).update([HEAD], (rows) => {
          const isExpected = isSame(rows.get(HEAD) ?? null, before);
          return { result: isExpected, changes: isExpected ? changes : [] };
        }),
      ),
    delete: (vaultId) => tableOf(vaultId).clear(),
    list: () => orNone([], async () => (await store.tables(TABLE)).map((name) => name.slice(TABLE.length))),
  };
}

export function isSame(one: Uint8Array | null, other: Uint8Array | null): boolean {
  if (one === null || other === null) return one === other;
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

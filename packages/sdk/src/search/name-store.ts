/** Where the local indexes of names are kept between runs. */
import type { ProfileStore, Table } from "../store/profile-store.ts";

/** Where the local indexes of names are kept between runs. What it holds is encrypted. */
export interface NameStore {
  /** The index of one vault; null: there is none, or it cannot be read. */
  load(vaultId: string): Promise<Uint8Array | null>;
  /** Replaces it as a whole: a crash leaves the old or the new one. The last writer wins. */
  save(vaultId: string, bytes: Uint8Array): Promise<void>;
  /** Deletes it. The next search of the vault builds it again. */
  delete(vaultId: string): Promise<void>;
  /** UUIDs of the vaults that have one. */
  list(): Promise<readonly string[]>;
}

const TABLE = "names-";
const ROW = "index";

/**
 * Keeps each vault's index in a table of its own, encrypted under a key of the vault (file-format §14). Without a place
 * to write, nothing is kept. `delete` of a vault's id loses nothing: the next search builds the index again.
 */
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
    load: (vaultId) => orNone(null, () => tableOf(vaultId).get(ROW)),
    save: (vaultId, value) => orNone(undefined, () => tableOf(vaultId).write([{ key: ROW, value }])),
    delete: (vaultId) => tableOf(vaultId).clear(),
    list: () => orNone([], async () => (await store.tables(TABLE)).map((name) => name.slice(TABLE.length))),
  };
}

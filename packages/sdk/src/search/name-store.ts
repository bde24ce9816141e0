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

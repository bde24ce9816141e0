import { digestOf } from "../../transfer/digest.ts";
import { damagedExport, itemPath, MAX_ITEM, readWhole, type ExportStore, type ItemFolder } from "./export-layout.ts";

/** Bytes of a SHA-256. */
const DIGEST_BYTES = 32;

/**
 * The files, folders and records of an export as they were when they were compared with its manifest. A later change
 * of the directory does not change what a reader gets here. Memory holds the id and the digest of each: about 70 MB
 * for a million files.
 */
export class CheckedItems {
  readonly #store: ExportStore;
  readonly #rows: Readonly<Record<ItemFolder, Rows>> = {
    files: new Rows(36),
    folders: new Rows(36),
    records: new Rows(64),
  };

  constructor(store: ExportStore) {
    this.#store = store;
  }

  /** In the order of the ids. */
  add(folder: ItemFolder, id: string, digest: Uint8Array): void {
    this.#rows[folder].push(id, digest);
  }

  /** Ascending. */
  ids(folder: ItemFolder): Generator<string, void, undefined> {
    return this.#rows[folder].ids();
  }

  has(folder: ItemFolder, id: string): boolean {
    return this.#rows[folder].find(id) !== null;
  }

  /**
   * The checked bytes.
   * @throws VaultError `damaged` when they are gone or changed, and for an item that was not there then.
   */
  async read(folder: ItemFolder, id: string): Promise<Uint8Array> {
    const path = itemPath(folder, id);
    const digest = this.#rows[folder].find(id);
    if (digest === null) throw damagedExport(`${path} is missing`);
    const bytes = await readWhole(this.#store, path, MAX_ITEM);
    if (bytes === null) throw damagedExport(`${path} went away after the export was opened`);
    const actual = await digestOf(bytes);
    if (!actual.every((byte, at) => byte === digest[at]))
      throw damagedExport(`${path} was changed after the export was opened`);
    return bytes;
  }
}

/** Ids of one length with their digests, one after the other in one piece of memory: objects would take five times as much. */
class Rows {
  readonly #idBytes: number;
  #memory = new Uint8Array(4096);
  #filled = 0;

  constructor(idBytes: number) {
    this.#idBytes = idBytes;
  }

  push(id: string, digest: Uint8Array): void {
    const end = this.#filled + this.#rowBytes;
    if (end > this.#memory.length) {
      const larger = new Uint8Array(this.#memory.length * 2);
      larger.set(this.#memory);
      this.#memory = larger;
    }
    new TextEncoder().encodeInto(id, this.#memory.subarray(this.#filled, this.#filled + this.#idBytes));
    this.#memory.set(digest, this.#filled + this.#idBytes);
    this.#filled = end;
  }

  *ids(): Generator<string, void, undefined> {
    for (let row = 0; row < this.#count; row += 1) yield this.#idAt(row);
  }

  /** null: there is no such id. */
  find(id: string): Uint8Array | null {
    let [low, high] = [0, this.#count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#idAt(middle) < id) low = middle + 1;
      else high = middle;
    }
    if (low === this.#count || this.#idAt(low) !== id) return null;
    const at = low * this.#rowBytes + this.#idBytes;
    return this.#memory.subarray(at, at + DIGEST_BYTES);
  }

  get #count(): number {
    return this.#filled / this.#rowBytes;
  }

  get #rowBytes(): number {
    return this.#idBytes + DIGEST_BYTES;
  }

  #idAt(row: number): string {
    const at = row * this.#rowBytes;
    return new TextDecoder().decode(this.#memory.subarray(at, at + this.#idBytes));
  }
}

/**
 * A local index of names between two runs, in rows that are encrypted under a key of its vault (file-format §14). A page
 * is never changed: what comes in its place has another id, and the head, which names the pages, is replaced in the same
 * step. So an index is always what one write made of it, whoever reads or writes meanwhile.
 */
import {
  CryptoError,
  decryptSearchIndex,
  encodePlace,
  encryptSearchIndex,
  parseEntryStatement,
  type EntryStatement,
  type VaultKey,
} from "@coffer/crypto";
import { fromBase64, toHex } from "../transfer/digest.ts";
import { inVaultTerms, toVaultError } from "../shared-vaults/vault-terms.ts";
import { VaultError } from "../http/errors.ts";
import type { OpenVault } from "../shared-vaults/open-vault.ts";
import type { RowChange } from "../store/profile-store.ts";
import {
  decodeHead,
  decodePage,
  encodeHead,
  encodePage,
  type HeadText,
  type IndexProgress,
  type PageEntry,
} from "./index-text.ts";
import { type IndexRow, keyOfRow } from "./index-rows.ts";
import { HEAD, isSame, type NameStore } from "./name-store.ts";
import { NameTable, type RowUpdate } from "./name-table.ts";

/** Rows of one page, at most: about 30 KB in the store. */
const PAGE_ROWS = 512;
/** What a page that grew too large is divided into: there is room for more. */
const DIVIDED_ROWS = 384;
/** Key id and place before the message. */
const KEY_BYTES = 48;
/** Rows that are put into memory at once. */
const LOAD_ROWS = 4_096;

/** The key of an entry that was verified. */
export type IndexKey = Pick<EntryStatement, "keyId" | "generation" | "after">;

/** An index as one write left it. */
export interface IndexHead extends HeadText {
  readonly key: IndexKey;
  /** The row, as it is in the store. */
  readonly row: Uint8Array;
  /** Pages that the next write deletes. */
  readonly outdated: readonly PageEntry[];
}

export interface IndexRange {
  /** Keys that begin so (`keyOfRow`), such as `file <folder id> `. Default: every key. */
  readonly prefix?: string | undefined;
  /** Keys behind this one: `next` of the rows before. Default: from the first one on. */
  readonly after?: string | null | undefined;
  /** Rows at most. */
  readonly limit: number;
}

export interface IndexRows {
  readonly rows: readonly IndexRow[];
  /** For `after`; null: there are no more. */
  readonly next: string | null;
}

export interface IndexUpdate extends IndexProgress {
  /** The newest one that an entry of the index names. */
  readonly key: IndexKey;
  readonly rows: readonly RowUpdate[];
}

export class StoredIndex {
  readonly #vault: OpenVault;
  readonly #store: NameStore;
  readonly #keys = new Map<string, Promise<VaultKey>>();

  constructor(vault: OpenVault, store: NameStore) {
    this.#vault = vault;
    this.#store = store;
  }

  /** null: there is no index, or it is of another vault, key or version. */
  async readHead(): Promise<IndexHead | null> {
    const row = await this.#store.get(this.#vault.id, HEAD);
    return row === null ? null : this.#openHead(row);
  }

  /** Rows in the order of their keys; only the pages that have them are read. null: the index is not that of the head any more. */
  async readRows({ pages }: IndexHead, { prefix = "", after = null, limit }: IndexRange): Promise<IndexRows | null> {
    const isBehind = (key: string): boolean => key >= prefix && (after === null || key > after);
    const rows: IndexRow[] = [];
    const first = pageOf(pages, after !== null && after > prefix ? after : prefix);
    for (const { from, id } of pages.slice(Math.max(0, first))) {
      if (rows.length > limit || (from > prefix && !from.startsWith(prefix))) break;
      const page = await this.#readPage(id);
      if (page === null) return null;
      for (const row of page) {
        const key = keyOfRow(row);
        if (isBehind(key) && key.startsWith(prefix)) rows.push(row);
      }
    }
    const last = rows.length > limit ? rows[limit - 1] : undefined;
    return { rows: rows.slice(0, limit), next: last === undefined ? null : keyOfRow(last) };
  }

  /** All rows in memory, with the head they are of. null: there is no index that can be read, and nothing of one stays. */
  async load(): Promise<{ readonly head: IndexHead; readonly table: NameTable } | null> {
    for (;;) {
      const row = await this.#store.get(this.#vault.id, HEAD);
      if (row === null) return null;
      const head = await this.#openHead(row);
      const table = head === null ? null : await this.#loadTable(head);
      if (head !== null && table !== null) return { head, table };
      // Another process may have written meanwhile.
      if (!isSame(await this.#store.get(this.#vault.id, HEAD), row)) continue;
      await this.#store.delete(this.#vault.id);
      return null;
    }
  }

  /** Makes the changes, or none. `head`: as it was read or written last. null: another process has written meanwhile. */
  async write(
    head: IndexHead | null,
    { key, changes, building, listedAt, rows }: IndexUpdate,
  ): Promise<IndexHead | null> {
    const before = head?.pages ?? [];
    const updates = updatesByPage(before, rows);
    const pages: PageEntry[] = [];
    const written = (head?.outdated ?? []).map(({ id }): RowChange => ({ key: rowOfPage(id), value: null }));
    for (const [at, page] of (before.length === 0 ? [FIRST_PAGE] : before).entries()) {
      const update = updates.get(at);
      if (update === undefined) {
        if (page.id !== "") pages.push(page);
        continue;
      }
      const stored = page.id === "" ? [] : await this.#readPage(page.id);
      if (stored === null) return null;
      if (page.id !== "") written.push({ key: rowOfPage(page.id), value: null });
      for (const [part, content] of divide(apply(stored, update)).entries()) {
        const id = crypto.randomUUID();
        pages.push({ from: part === 0 ? page.from : keyOfFirst(content), id });
        written.push({ key: rowOfPage(id), value: await this.#encrypt(key, await encodePage(id, content)) });
      }
    }
    const [first, ...others] = pages;
    const text = { changes, building, listedAt, pages: first === undefined ? [] : [{ ...first, from: "" }, ...others] };
    const row = await this.#encrypt(key, await encodeHead(text));
    const isWritten = await this.#store.replace(this.#vault.id, head?.row ?? null, [
      ...written,
      { key: HEAD, value: row },
    ]);
    return isWritten ? { ...text, key, row, outdated: [] } : null;
  }

  async #openHead(row: Uint8Array): Promise<IndexHead | null> {
    const opened = await this.#open(row);
    const text = opened === null ? null : await decodeHead(opened.plaintext);
    return opened === null || text === null ? null : { ...text, key: opened.key, row, outdated: [] };
  }

  async #loadTable(head: IndexHead): Promise<NameTable | null> {
    const table = new NameTable();
    for (let after: string | null = null; ;) {
      const page: IndexRows | null = await this.readRows(head, { after, limit: LOAD_ROWS });
      if (page === null) return null;
      for (const row of page.rows) table.load(row);
      if (page.next === null) return table;
      after = page.next;
    }
  }

  /** null: it is not there, or cannot be read. */
  async #readPage(id: string): Promise<readonly IndexRow[] | null> {
    const row = await this.#store.get(this.#vault.id, rowOfPage(id));
    const opened = row === null ? null : await this.#open(row);
    return opened === null ? null : decodePage(id, opened.plaintext);
  }

  async #open(row: Uint8Array): Promise<{ readonly key: IndexKey; readonly plaintext: Uint8Array } | null> {
    if (row.length <= KEY_BYTES) return null;
    const [keyId, place] = [row.slice(0, 32), new DataView(row.buffer, row.byteOffset + 32, 16)];
    const key = { keyId, generation: place.getBigUint64(0), after: place.getBigUint64(8) };
    const { id: vaultId, platform } = this.#vault;
    try {
      const vaultKey = await this.#findKey(key);
      const message = row.subarray(KEY_BYTES);
      return { key, plaintext: await decryptSearchIndex(platform, vaultKey, { vaultId, keyId }, message) };
    } catch (error) {
      if (isUseless(error)) return null;
      throw toVaultError(error);
    }
  }

  async #encrypt(key: IndexKey, plaintext: Uint8Array): Promise<Uint8Array> {
    const { id: vaultId, platform } = this.#vault;
    const vaultKey = await this.#findKey(key);
    const place = { vaultId, keyId: key.keyId };
    const message = await inVaultTerms(() => encryptSearchIndex(platform, vaultKey, place, plaintext));
    const row = new Uint8Array(KEY_BYTES + message.length);
    row.set(key.keyId);
    row.set(encodePlace(key), 32);
    row.set(message, KEY_BYTES);
    return row;
  }

  #findKey({ keyId, generation }: IndexKey): Promise<VaultKey> {
    const name = `${toHex(keyId)} ${String(generation)}`;
    const finding =
      this.#keys.get(name) ?? this.#vault.record(keyId, generation).then((record) => this.#vault.findKey(record));
    this.#keys.set(name, finding);
    return finding;
  }
}

/** For an index that begins anew: it takes the place of the other one when it is written. */
export function withoutRows({ pages, outdated, ...head }: IndexHead): IndexHead {
  return { ...head, pages: [], outdated: [...outdated, ...pages] };
}

/** The key of an entry, for the index to be encrypted under. */
export function keyOfEntry(entry: string): IndexKey {
  return parseEntryStatement(fromBase64(entry) ?? new Uint8Array(0));
}

/** Stands for the page of an index that has none yet. */
const FIRST_PAGE: PageEntry = { from: "", id: "" };

function rowOfPage(id: string): string {
  return `page ${id}`;
}

/** The page whose keys that one is among; -1: there is none. */
function pageOf(pages: readonly PageEntry[], key: string): number {
  let [low, high] = [0, pages.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((pages[middle]?.from ?? "") <= key) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Rows by key; null: none is there any more. */
type PageUpdate = Map<string, IndexRow | null>;

function updatesByPage(pages: readonly PageEntry[], rows: readonly RowUpdate[]): ReadonlyMap<number, PageUpdate> {
  const updates = new Map<number, PageUpdate>();
  const put = (key: string, row: IndexRow | null): void => {
    const at = Math.max(0, pageOf(pages, key));
    const update: PageUpdate = updates.get(at) ?? new Map<string, IndexRow | null>();
    updates.set(at, update.set(key, row));
  };
  for (const { before } of rows) if (before !== null) put(before, null);
  for (const { row } of rows) if (row !== null) put(keyOfRow(row), row);
  return updates;
}

function apply(stored: readonly IndexRow[], update: PageUpdate): IndexRow[] {
  const rows = new Map<string, IndexRow | null>(stored.map((row) => [keyOfRow(row), row]));
  for (const [key, row] of update) rows.set(key, row);
  const present = [...rows].filter((entry): entry is [string, IndexRow] => entry[1] !== null);
  return present.sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
}

/** None for no rows. */
function divide(rows: readonly IndexRow[]): IndexRow[][] {
  const size = rows.length <= PAGE_ROWS ? PAGE_ROWS : DIVIDED_ROWS;
  const parts: IndexRow[][] = [];
  for (let at = 0; at < rows.length; at += size) parts.push(rows.slice(at, at + size));
  return parts;
}

function keyOfFirst([row]: readonly IndexRow[]): string {
  return row === undefined ? "" : keyOfRow(row);
}

/** The row proves nothing: not even that somebody attacks. */
function isUseless(error: unknown): boolean {
  return (error instanceof CryptoError || error instanceof VaultError) && USELESS.has(error.code);
}

const USELESS: ReadonlySet<string> = new Set(["damaged", "wrong_key", "vault_changed", "rolled_back"]);

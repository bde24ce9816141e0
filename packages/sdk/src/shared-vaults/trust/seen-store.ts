/**
 * The statements seen of vaults, in a profile store: they must outlive the process, or a service could wait for the next
 * one. Each vault has a table, with ids, numbers and digests alone.
 *
 * ```
 * key      "version " or "entry " || file or folder id
 * value    number(8) || place(16) || hash(32)      file-format §8
 * ```
 */
import type { SeenStatement } from "@coffer/crypto";
import { followTable, type ProfileStore, type RowChange, type Rows, type Table } from "../../store/profile-store.ts";
import type { SeenKind, SeenMemory, SeenStore } from "./seen-memory.ts";

/** How many statements of a vault are remembered; those that were noted first give way. */
const MOST = 65_536;
const BYTES = 56;

export interface SeenStoreOptions {
  /** Told when notes cannot be written, once for each vault: this process remembers them, the next one does not. Default: nobody is. */
  readonly onUnwritten?: ((error: unknown) => void) | undefined;
}

/**
 * Keeps 65,536 statements of each vault, those that were noted last. A note is written at once, together with those that
 * came meanwhile.
 */
export function seenStore(store: ProfileStore, { onUnwritten }: SeenStoreOptions = {}): SeenStore {
  return {
    open: async (chainObjectId) => {
      if (!/^0x[0-9a-f]{64}$/.test(chainObjectId)) throw new TypeError("not the id of a chain object");
      const memory = new StoredSeen(store.table(`seen-${chainObjectId.slice(2)}`), onUnwritten);
      await memory.refresh();
      return memory;
    },
  };
}

class StoredSeen implements SeenMemory {
  readonly #table: Table;
  readonly #onUnwritten: ((error: unknown) => void) | undefined;
  /** The table's rows in the order of writing, as text: it takes a fifth of the memory. */
  readonly #statements = new Map<string, string>();
  #cursor: string | null = null;
  #reading: Promise<void> = Promise.resolve();
  /** Notes to be written, and those on their way. */
  #pending = new Map<string, string>();
  #writing: ReadonlyMap<string, string> = new Map();
  #flushing: Promise<void> | null = null;
  #hasFailed = false;

  constructor(table: Table, onUnwritten: ((error: unknown) => void) | undefined) {
    this.#table = table;
    this.#onUnwritten = onUnwritten;
  }

  find(kind: SeenKind, id: string): SeenStatement | null {
    const text = this.#find(keyOf(kind, id));
    return text === null ? null : decode(text);
  }

  record(kind: SeenKind, id: string, seen: SeenStatement): void {
    const [key, text] = [keyOf(kind, id), encode(seen)];
    const before = this.#find(key);
    if (before !== null && !isNewer(text, before)) return;
    this.#pending.set(key, text);
    this.flush().catch((error: unknown) => {
      if (!this.#hasFailed) this.#onUnwritten?.(error);
      this.#hasFailed = true;
    });
  }

  async refresh(): Promise<void> {
    const reading = this.#reading.catch(() => undefined).then(() => this.#read());
    this.#reading = reading;
    await reading;
  }

  async flush(): Promise<void> {
    // Notes that come later are not waited for: while many files are stored at once there is always one.
    const [pending, writing] = [this.#pending, this.#writing];
    const isWaiting = (): boolean =>
      (this.#pending === pending && pending.size > 0) ||
      this.#writing === pending ||
      (this.#writing === writing && writing.size > 0);
    while (isWaiting()) {
      this.#flushing ??= this.#write().finally(() => (this.#flushing = null));
      await this.#flushing;
    }
  }

  async forget(id: string | null): Promise<void> {
    await this.flush();
    if (id === null) await this.#table.clear();
    else await this.#table.write([keyOf("version", id), keyOf("entry", id)].map((key) => ({ key, value: null })));
    await this.refresh();
  }

  /** If two processes saw two statements of one number, the one in the table counts: the other is refused from then on. */
  #find(key: string): string | null {
    const own = this.#pending.get(key) ?? this.#writing.get(key) ?? null;
    const stored = this.#statements.get(key) ?? null;
    return own === null || (stored !== null && !isNewer(own, stored)) ? stored : own;
  }

  async #read(): Promise<void> {
    this.#cursor = await followTable(this.#table, this.#cursor, {
      clear: () => {
        this.#statements.clear();
      },
      set: (key, value) => {
        this.#statements.delete(key);
        if (value?.length === BYTES) this.#statements.set(key, toText(value));
      },
    });
  }

  async #write(): Promise<void> {
    // What is noted in one turn goes together.
    await Promise.resolve();
    const writing = this.#pending;
    this.#writing = writing;
    this.#pending = new Map();
    try {
      await this.#table.update([...writing.keys()], (rows) => ({
        result: undefined,
        changes: [...newerIn(writing, rows), ...this.#oldest(writing)],
      }));
      await this.refresh();
      this.#hasFailed = false;
    } catch (error) {
      for (const [key, text] of writing) if (!this.#pending.has(key)) this.#pending.set(key, text);
      throw error;
    } finally {
      this.#writing = new Map();
    }
  }

  /** The statements that give way to the new ones. */
  #oldest(writing: ReadonlyMap<string, string>): RowChange[] {
    const added = [...writing.keys()].filter((key) => !this.#statements.has(key)).length;
    let excess = this.#statements.size + added - MOST;
    const oldest: RowChange[] = [];
    for (const key of this.#statements.keys()) {
      if (excess <= 0) break;
      if (writing.has(key)) continue;
      oldest.push({ key, value: null });
      excess -= 1;
    }
    return oldest;
  }
}

/** Never goes back; of two with one number the first stays. */
function newerIn(writing: ReadonlyMap<string, string>, rows: Rows): RowChange[] {
  return [...writing].flatMap(([key, text]) => {
    const before = rows.get(key);
    return before === undefined || isNewer(text, toText(before)) ? [{ key, value: toBytes(text) }] : [];
  });
}

function keyOf(kind: SeenKind, id: string): string {
  return `${kind} ${id}`;
}

function encode({ number, generation, after, hash }: SeenStatement): string {
  const bytes = new Uint8Array(BYTES);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, number);
  view.setBigUint64(8, generation);
  view.setBigUint64(16, after);
  bytes.set(hash.subarray(0, 32), 24);
  return toText(bytes);
}

function decode(text: string): SeenStatement {
  const bytes = toBytes(text);
  const view = new DataView(bytes.buffer);
  return {
    number: view.getBigUint64(0),
    generation: view.getBigUint64(8),
    after: view.getBigUint64(16),
    hash: bytes.slice(24),
  };
}

/** Whether it has a higher number: eight big-endian bytes compare as texts do. */
function isNewer(text: string, before: string): boolean {
  return text.slice(0, 8) > before.slice(0, 8);
}

/** One character for each byte. */
function toText(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

function toBytes(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

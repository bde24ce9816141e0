import {
  requireKey,
  requireName,
  type RowChange,
  type RowChanges,
  type KeyRange,
  type RowPage,
  type ProfileStore,
  type Rows,
  type Table,
  type TableUpdate,
} from "./profile-store.ts";

/** A store that forgets with the process. */
export function memoryStore(): ProfileStore {
  const tables = new Map<string, MemoryTable>();
  const locks = new Map<string, Promise<void>>();
  return {
    table: (name) => {
      const table = tables.get(requireName(name)) ?? new MemoryTable();
      tables.set(name, table);
      return table;
    },
    tables: (prefix) => {
      const names = [...tables].flatMap(([name, { size }]) => (size > 0 && name.startsWith(prefix) ? [name] : []));
      return Promise.resolve(names.sort());
    },
    cannotKeep: () => false,
    lock: async (name, waitMs) => {
      const deadline = performance.now() + waitMs;
      for (let holder = locks.get(requireName(name)); holder !== undefined; holder = locks.get(name)) {
        const left = deadline - performance.now();
        if (left <= 0) return null;
        await Promise.race([holder, new Promise((resolve) => setTimeout(resolve, left))]);
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      locks.set(name, promise);
      return {
        [Symbol.asyncDispose]: () => {
          if (locks.get(name) === promise) locks.delete(name);
          resolve();
          return Promise.resolve();
        },
      };
    },
  };
}

interface Written {
  readonly value: Uint8Array | null;
  readonly at: number;
}

class MemoryTable implements Table {
  /** In the order of writing. Deleted rows stay, for those who follow the changes. */
  readonly #rows = new Map<string, Written>();
  #writes = 0;
  size = 0;

  get(key: string): Promise<Uint8Array | null> {
    const value = this.#rows.get(key)?.value ?? null;
    return Promise.resolve(value === null ? null : value.slice());
  }

  page({ prefix = "", after = null, limit }: KeyRange): Promise<RowPage> {
    const rows = [...this.#rows].flatMap(([key, { value }]) =>
      value !== null && key.startsWith(prefix) && (after === null || key > after)
        ? [{ key, value: value.slice() }]
        : [],
    );
    rows.sort((one, other) => (one.key < other.key ? -1 : 1));
    const page = rows.slice(0, limit);
    return Promise.resolve({ rows: page, next: rows.length > limit ? (page.at(-1)?.key ?? null) : null });
  }

  changes(since: string | null): Promise<RowChanges> {
    const from = since === null ? 0 : Number(since);
    const changes = [...this.#rows].flatMap(([key, { value, at }]) =>
      at > from && (since !== null || value !== null) ? [{ key, value: value?.slice() ?? null }] : [],
    );
    return Promise.resolve({ isAnew: since === null, changes, cursor: String(this.#writes), isMore: false });
  }

  update<Result>(keys: readonly string[], decide: (rows: Rows) => TableUpdate<Result>): Promise<Result> {
    return Promise.resolve().then(() => {
      const rows = keys.flatMap((key): [string, Uint8Array][] => {
        const value = this.#rows.get(key)?.value ?? null;
        return value === null ? [] : [[key, value.slice()]];
      });
      const { result, changes = [] } = decide(new Map(rows));
      this.#apply(changes);
      return result;
    });
  }

  write(changes: readonly RowChange[]): Promise<void> {
    return this.update([], () => ({ result: undefined, changes }));
  }

  clear(): Promise<void> {
    return this.write([...this.#rows.keys()].map((key) => ({ key, value: null })));
  }

  #apply(changes: readonly RowChange[]): void {
    for (const { key } of changes) requireKey(key);
    for (const { key, value } of changes) {
      const isThere = (this.#rows.get(key)?.value ?? null) !== null;
      this.size += (value === null ? 0 : 1) - (isThere ? 1 : 0);
      this.#rows.delete(key);
      this.#rows.set(key, { value: value?.slice() ?? null, at: (this.#writes += 1) });
    }
  }
}

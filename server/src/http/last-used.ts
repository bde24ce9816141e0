import { touchKey } from "../features/api-keys/store.ts";
import type { Database } from "../ports/database.ts";

/**
 * When keys were last used. A write per request would make every read a write, so this collects the times and writes
 * them together now and then. A crash loses at most one interval. The first use of a key is written at once: who has just handed the key
 * to an agent looks whether it has arrived.
 */
export class LastUsed {
  #times = new Map<string, number>();
  /** Called at a key's first use, to write what was collected. */
  onFirst: () => void = () => undefined;

  /** `before`: when the key was last used as far as it is written down; null: never. */
  touch(keyId: string, at: number, before: number | null): void {
    const isFirst = before === null && !this.#times.has(keyId);
    this.#times.set(keyId, at);
    if (isFirst) this.onFirst();
  }

  /** Writes what was collected, in one transaction; what could not be written is kept for the next time. */
  async flush(database: Database): Promise<void> {
    if (this.#times.size === 0) return;
    const times = this.#times;
    this.#times = new Map();
    try {
      // In the order of their ids, like other processes: two that write the same keys would wait for each other.
      const sorted = [...times].sort(([a], [b]) => (a < b ? -1 : 1));
      await database.transaction(async (transaction) => {
        for (const [id, at] of sorted) await transaction.run(touchKey(transaction, { id, at }));
      });
    } catch (error) {
      for (const [id, at] of times) if (!this.#times.has(id)) this.#times.set(id, at);
      throw error;
    }
  }
}

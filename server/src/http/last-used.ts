import { touchKey } from "../features/api-keys/store.ts";
import type { Database } from "../ports/database.ts";

/**
 * When keys were last used. A write per request would make every read a write, so this collects the times and writes
 * them together now and then. A crash loses at most one interval.
 */
export class LastUsed {
  #times = new Map<string, number>();

  touch(keyId: string, at: number): void {
    this.#times.set(keyId, at);
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

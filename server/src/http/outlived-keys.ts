import { expireKey } from "../features/api-keys/store.ts";
import type { Database } from "../ports/database.ts";

/**
 * Keys that were refused for their age. A refused key stays refused when the clock is set back: at once in this
 * process, and in all processes once it is written down. That happens off the request path.
 */
export class OutlivedKeys {
  readonly #ids = new Set<string>();

  has(keyId: string): boolean {
    return this.#ids.has(keyId);
  }

  add(keyId: string): void {
    this.#ids.add(keyId);
  }

  /** Writes what was collected, in one transaction; what could not be written is kept for the next time. */
  async flush(database: Database): Promise<void> {
    if (this.#ids.size === 0) return;
    const ids = [...this.#ids].sort();
    await database.transaction(async (transaction) => {
      for (const id of ids) await transaction.run(expireKey(transaction, { id }));
    });
    for (const id of ids) this.#ids.delete(id);
  }
}

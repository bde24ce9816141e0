/**
 * Acts of one account come one after the other. Those of one process wait here and hold no connection. At the engine they would take
 * every connection of the pool, and nobody else would be served. Those of other processes meet at the account's row.
 */
import { DatabaseUnavailableError } from "../../../ports/database.ts";
import { Turn } from "../turn.ts";

export class AccountTurns {
  readonly #turns = new Map<string, Turn>();
  readonly #patience: number;

  /** How long anybody waits for a turn. Milliseconds. */
  constructor(patience: number) {
    this.#patience = patience;
  }

  /** @param accountIds in the order in which everybody takes them. */
  async acquire(accountIds: readonly string[]): Promise<Disposable> {
    using taken = new DisposableStack();
    for (const id of accountIds) taken.use(await this.#acquireOne(id));
    return taken.move();
  }

  async #acquireOne(id: string): Promise<Disposable> {
    const turn = this.#turns.get(id) ?? new Turn();
    this.#turns.set(id, turn);
    const taken = await turn.acquire(this.#patience);
    if (taken === null) throw new DatabaseUnavailableError("Too many acts wait for the same account", { busy: true });
    return {
      [Symbol.dispose]: () => {
        taken[Symbol.dispose]();
        if (turn.waiting === 0) this.#turns.delete(id);
      },
    };
  }
}

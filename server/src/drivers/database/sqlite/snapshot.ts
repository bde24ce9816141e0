/** The reading connection, with one read transaction for all reads of one turn of the event loop. */
import type { CompiledQuery } from "kysely";
import type { SqliteConnection } from "./connection.ts";

/**
 * In WAL mode every statement outside a transaction takes and gives back a lock in shared memory: two system calls,
 * measured at half of a look-up. So the first read of a turn opens a read transaction, and the end of the turn closes it.
 *
 * Nothing older than the turn is ever seen: what a request is told depends on it was committed before the request was
 * sent, so before this turn's poll found it, so before the transaction began. A commit of this process ends the
 * transaction at once (see {@link Snapshot.renew}), so that a handler reads what it has written.
 */
export class Snapshot implements Disposable {
  readonly #connection: SqliteConnection;
  #open = false;
  #closed = false;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  all<Row>(query: CompiledQuery<Row>): Row[] {
    this.#begin();
    return this.#connection.all(query);
  }

  first<Row>(query: CompiledQuery<Row>): Row | null {
    this.#begin();
    return this.#connection.first(query);
  }

  ping(): void {
    this.#connection.ping();
  }

  /** Later reads see what has been committed up to now. */
  renew(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#connection.rollback();
  }

  [Symbol.dispose](): void {
    this.renew();
    this.#closed = true;
    this.#connection.close();
  }

  #begin(): void {
    if (this.#open) return;
    this.#connection.beginReading();
    this.#open = true;
    // The check phase follows the poll phase in which requests arrive.
    setImmediate(this.#end);
  }

  readonly #end = (): void => {
    if (!this.#closed) this.renew();
  };
}

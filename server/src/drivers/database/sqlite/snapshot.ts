/** One state of the database, read beside a running server or without one. */
import type { Kysely } from "kysely";
import type { Queries } from "../../../ports/database.ts";
import type { Tables } from "../../../ports/tables.ts";
import { compilerFor } from "./compiler.ts";
import { openConnection, type SqliteConnection } from "./connection.ts";

/** Every read sees the state of the first one after opening or {@link renew}; writes reject. */
export interface Snapshot extends Queries, Disposable {
  /** Lets go of the state: as long as it is held, the server cannot shorten its write-ahead log. */
  renew(): void;
}

/** @throws DatabaseUnavailableError when there is no database at `path`, or it cannot be opened. */
export function openSnapshot(path: string): Snapshot {
  const connection = openConnection(path, { readOnly: true });
  connection.beginSnapshot();
  return new SqliteSnapshot(connection);
}

class SqliteSnapshot implements Snapshot {
  readonly build: Kysely<Tables> = compilerFor<Tables>();
  readonly #connection: SqliteConnection;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  all: Queries["all"] = async (query) => this.#connection.all(query.compile());
  first: Queries["first"] = async (query) => this.#connection.first(query.compile());
  run: Queries["run"] = () => Promise.reject(new Error("A snapshot is only read"));

  renew(): void {
    this.#connection.endSnapshot();
    this.#connection.beginSnapshot();
  }

  [Symbol.dispose](): void {
    this.#connection.close();
  }
}

/**
 * Reads of committed state, one snapshot for the requests of each poll (docs/decisions/0009-one-snapshot-a-turn.md).
 *
 * Outside a transaction SQLite takes and returns a shared lock for every statement: two system calls each. The reads
 * of requests that arrive together share a read transaction instead. Only a look-up made on arrival, in the callback
 * of a socket, begins it. It ends with the turn of the event loop, or before, when this process commits. So it is
 * never older than the requests it serves, and a revoked key fails on the next request, from another process as well.
 * A timer's read must not begin one: it would still be open when the sockets are polled next.
 *
 * A fixed look-up can ask to be `remembered` (see ports/database.ts). Its answer comes from memory as long as
 * `PRAGMA data_version` shows that nobody has committed since (sqlite.org/pragma.html#pragma_data_version).
 */
import type { CompiledQuery } from "kysely";
import type { ReadHints } from "../../../ports/database.ts";
import type { SqliteConnection } from "./connection.ts";

/** Rows kept of one query; all are forgotten with the next commit, and when there are more. */
const REMEMBERED = 10_000;

export class CommittedReads {
  readonly #connection: SqliteConnection;
  /** By the text of the query, then by its values. */
  readonly #rows = new Map<string, Map<string, unknown>>();
  #version: number | null = null;
  #open = false;
  /** Whether `#rows` holds for the open snapshot. */
  #current = false;
  readonly #endOfTurn = (): void => this.refresh();

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  all<Row>(query: CompiledQuery<Row>): Row[] {
    return this.#connection.all(query);
  }

  first<Row>(query: CompiledQuery<Row>, hints: ReadHints): Row | null {
    if (hints.onArrival === true) this.#snapshot();
    // Without a snapshot another process may commit between the comparison of versions and the read.
    if (hints.remembered !== true || !this.#open) return this.#connection.first(query);
    if (!this.#current) this.#compareVersion();
    const rows = this.#rowsOf(query.sql);
    const values = query.parameters.join("\n");
    const known = rows.get(values);
    if (known !== undefined) return known as Row | null;
    const row = this.#connection.first(query);
    if (rows.size >= REMEMBERED) rows.clear();
    rows.set(values, row === null ? null : Object.freeze(row));
    return row;
  }

  /** Ends the snapshot: the next read sees what is committed by then. */
  refresh(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#current = false;
    this.#connection.endSnapshot();
  }

  ping(): void {
    this.#connection.ping();
  }

  close(): void {
    this.refresh();
    this.#connection.close();
  }

  #snapshot(): void {
    if (this.#open) return;
    this.#connection.beginSnapshot();
    this.#open = true;
    setImmediate(this.#endOfTurn);
  }

  #rowsOf(sql: string): Map<string, unknown> {
    const known = this.#rows.get(sql);
    if (known !== undefined) return known;
    const rows = new Map<string, unknown>();
    this.#rows.set(sql, rows);
    return rows;
  }

  #compareVersion(): void {
    const version = this.#connection.dataVersion();
    if (version !== this.#version) this.#rows.clear();
    this.#version = version;
    this.#current = true;
  }
}

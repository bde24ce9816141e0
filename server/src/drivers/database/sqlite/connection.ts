/** One SQLite connection: its settings, its statements, and its errors in the port's words. */
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from "node:sqlite";
import type { CompiledQuery } from "kysely";
import { DatabaseFullError, DatabaseUnavailableError } from "../../../ports/database.ts";
import { toConstraintError } from "./constraints.ts";

/** Fixed queries number a few hundred; those built per request must not push memory up without end. */
const STATEMENTS_KEPT = 512;

export interface SqliteConnection {
  all<Row>(query: CompiledQuery<Row>): Row[];
  first<Row>(query: CompiledQuery<Row>): Row | null;
  /** How many rows the statement changed. */
  run(query: CompiledQuery): number;
  /** A commit that is not durable is in the database's log when `commit` returns, and is flushed with the next durable one. */
  begin(durable: boolean): void;
  /** Begins a read transaction: what it sees is fixed by its first read. */
  beginSnapshot(): void;
  endSnapshot(): void;
  /** Another number when any other connection, of this process or another one, has committed since. */
  dataVersion(): number;
  commit(): void;
  /** Does nothing when SQLite has rolled back by itself. */
  rollback(): void;
  /** Throws after a failed flush. */
  assertHealthy(): void;
  ping(): void;
  close(): void;
}

/** @throws DatabaseUnavailableError when the file cannot be opened or is not a database. */
export function openConnection(path: string, options: { readOnly: boolean }): SqliteConnection {
  try {
    const handle = new DatabaseSync(path, { readOnly: options.readOnly, timeout: 25 });
    try {
      // FULL: a commit is flushed before it is acknowledged. WAL alone would survive kill -9 but not power loss
      // (sqlite.org/pragma.html#pragma_synchronous).
      if (!options.readOnly)
        handle.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 33554432");
      handle.exec("PRAGMA foreign_keys = ON; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY");
      return new Connection(handle);
    } catch (error) {
      handle.close();
      throw error;
    }
  } catch (error) {
    const code = (sqliteCode(error) ?? 0) & 0xff;
    const more = { cause: error, busy: code === BUSY || code === LOCKED };
    throw new DatabaseUnavailableError(`The database ${path} cannot be opened`, more);
  }
}

interface Prepared {
  readonly statement: StatementSync;
  columns: readonly string[];
}

class Connection implements SqliteConnection {
  readonly #handle: DatabaseSync;
  readonly #statements = new Map<string, Prepared>();
  #flushFailure: unknown = null;
  #flushes = true;

  constructor(handle: DatabaseSync) {
    this.#handle = handle;
  }

  all<Row>(query: CompiledQuery<Row>): Row[] {
    try {
      const prepared = this.#statement(query.sql);
      const rows = prepared.statement.all(...(query.parameters as SQLInputValue[])) as unknown as SQLOutputValue[][];
      return rows.map((values) => toRow<Row>(prepared, values));
    } catch (error) {
      throw this.#judge(error);
    }
  }

  first<Row>(query: CompiledQuery<Row>): Row | null {
    try {
      const prepared = this.#statement(query.sql);
      const values = prepared.statement.get(...(query.parameters as SQLInputValue[])) as SQLOutputValue[] | undefined;
      return values === undefined ? null : toRow<Row>(prepared, values);
    } catch (error) {
      throw this.#judge(error);
    }
  }

  run(query: CompiledQuery): number {
    return this.#guard(() =>
      Number(this.#statement(query.sql).statement.run(...(query.parameters as SQLInputValue[])).changes),
    );
  }

  beginSnapshot(): void {
    this.#guard(() => this.#statement("BEGIN").statement.run());
  }

  endSnapshot(): void {
    if (this.#handle.isTransaction) this.#guard(() => this.#statement("COMMIT").statement.run());
  }

  dataVersion(): number {
    return this.#guard(() =>
      Number((this.#statement("PRAGMA data_version").statement.get() as unknown as number[])[0]),
    );
  }

  begin(durable: boolean): void {
    this.assertHealthy();
    this.#flush(durable);
    try {
      this.#handle.exec("BEGIN IMMEDIATE");
    } catch (error) {
      this.#flush(true);
      throw this.#judge(error);
    }
  }

  commit(): void {
    try {
      this.#handle.exec("COMMIT");
      this.#flush(true);
    } catch (error) {
      // The WAL's index could not grow after the WAL itself was written. A restart may still find the transaction. So
      // this must not be reported as a full disk, which means that nothing was stored.
      if (sqliteCode(error) !== IO_ERROR_SHM_SIZE) throw this.#judge(error);
      throw new DatabaseUnavailableError("The disk of the database is full: the commit is uncertain", { cause: error });
    }
  }

  rollback(): void {
    // A full disk or a failed flush makes SQLite roll back by itself (sqlite.org/lang_transaction.html §2.4).
    if (this.#handle.isTransaction) this.#guard(() => this.#statement("ROLLBACK").statement.run());
    this.#flush(true);
  }

  /** Cannot be changed within a transaction. */
  #flush(always: boolean): void {
    if (this.#flushes === always) return;
    this.#handle.exec(`PRAGMA synchronous = ${always ? "FULL" : "NORMAL"}`);
    this.#flushes = always;
  }

  assertHealthy(): void {
    if (this.#flushFailure !== null) {
      throw new DatabaseUnavailableError("The database has stopped: a flush to the disk failed", {
        cause: this.#flushFailure,
      });
    }
  }

  ping(): void {
    this.#guard(() => this.#statement("SELECT 1").statement.get());
  }

  close(): void {
    this.#statements.clear();
    if (this.#handle.isOpen) this.#handle.close();
  }

  #statement(sql: string): Prepared {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    if (this.#statements.size >= STATEMENTS_KEPT) this.#forgetOldest();
    const statement = this.#handle.prepare(sql);
    // Rows as arrays: naming every column again for every row was measured at a quarter of a look-up.
    statement.setReturnArrays(true);
    const prepared = { statement, columns: columnsOf(statement) };
    this.#statements.set(sql, prepared);
    return prepared;
  }

  #forgetOldest(): void {
    const oldest = this.#statements.keys().next();
    if (oldest.done !== true) this.#statements.delete(oldest.value);
  }

  #guard<Result>(step: () => Result): Result {
    try {
      return step();
    } catch (error) {
      throw this.#judge(error);
    }
  }

  /** The error in the port's words; a failed flush is remembered. */
  #judge(error: unknown): unknown {
    if (isFlushFailure(error)) this.#flushFailure = error;
    const code = sqliteCode(error);
    if (code === null || (code & 0xff) !== CONSTRAINT) return translate(error, code);
    return toConstraintError(this.#handle, error, code);
  }
}

function columnsOf(statement: StatementSync): readonly string[] {
  return statement.columns().map((column) => column.name);
}

function toRow<Row>(prepared: Prepared, values: readonly SQLOutputValue[]): Row {
  // Another connection has added a column since the statement was prepared, and SQLite has prepared it again by
  // itself.
  if (prepared.columns.length !== values.length) prepared.columns = columnsOf(prepared.statement);
  const { columns } = prepared;
  const row: Record<string, unknown> = {};
  for (let index = 0; index < columns.length; index += 1) row[columns[index] as string] = values[index];
  return row as Row;
}

/** Result codes: sqlite.org/rescode.html; `errcode` is the extended one, its low byte the primary one. */
const BUSY = 5;
const LOCKED = 6;
const IO_ERROR = 10;
const FULL = 13;
const CANNOT_OPEN = 14;
const CONSTRAINT = 19;
const IO_ERROR_FSYNC = 1034;
const IO_ERROR_DIRECTORY_FSYNC = 1290;
/** The shared-memory file could not grow: so a full disk shows when the WAL begins again. */
const IO_ERROR_SHM_SIZE = 4874;

function translate(error: unknown, code: number | null): unknown {
  if (code === null) return error;
  const cause = { cause: error };
  if (code === IO_ERROR_SHM_SIZE) return new DatabaseFullError("The disk of the database is full", cause);
  switch (code & 0xff) {
    case FULL:
      return new DatabaseFullError("The disk of the database is full", cause);
    case BUSY:
    case LOCKED:
      return new DatabaseUnavailableError("The database is locked by another process", { ...cause, busy: true });
    case IO_ERROR:
    case CANNOT_OPEN:
      return new DatabaseUnavailableError("The database cannot be read or written", cause);
    default:
      return error;
  }
}

function isFlushFailure(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === IO_ERROR_FSYNC || code === IO_ERROR_DIRECTORY_FSYNC;
}

function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return null;
  return error.errcode;
}

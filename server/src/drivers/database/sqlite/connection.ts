/** One SQLite connection: its settings, its statements, and its errors in the port's words. */
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from "node:sqlite";
import type { CompiledQuery } from "kysely";
import { DatabaseFullError, DatabaseUnavailableError } from "../../../ports/database.ts";
import type { OnStorageFault } from "../../../ports/storage-faults.ts";
import { toConstraintError } from "./constraints.ts";
import { examine } from "./integrity.ts";

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
  /** Never throws. */
  endSnapshot(): void;
  /** Before a statement that commits by itself. Throws after a failed flush. */
  prepareWrite(): void;
  /** Another number when any other connection, of this process or another one, has committed since. */
  dataVersion(): number;
  commit(): void;
  /** Does nothing when SQLite has rolled back by itself. Never throws. */
  rollback(): void;
  /** Throws after a failed flush. */
  assertHealthy(): void;
  ping(): void;
  close(): void;
}

export interface ConnectionOptions {
  readonly readOnly: boolean;
  readonly onFault?: OnStorageFault;
  /** Throws while another file lies at the path: a connection that is opened again would be to that one. */
  readonly assertThere?: () => void;
}

/** @throws DatabaseUnavailableError when the file cannot be opened or is not a database. */
export function openConnection(path: string, options: ConnectionOptions): SqliteConnection {
  return new Connection(openHandle(path, options), path, options);
}

function openHandle(path: string, { readOnly }: ConnectionOptions): DatabaseSync {
  try {
    const handle = new DatabaseSync(path, { readOnly, timeout: 25 });
    try {
      // FULL: a commit is flushed before it is acknowledged. WAL alone would survive kill -9 but not power loss
      // (sqlite.org/pragma.html#pragma_synchronous).
      if (!readOnly)
        handle.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 33554432");
      handle.exec("PRAGMA foreign_keys = ON; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY");
      return handle;
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
  #handle: DatabaseSync;
  readonly #path: string;
  readonly #options: ConnectionOptions;
  readonly #statements = new Map<string, Prepared>();
  #flushFailure: unknown = null;
  #flushes = true;
  /** Something failed that leaves the handle in a state nobody knows: the next use opens another one. */
  #isSpent = false;

  constructor(handle: DatabaseSync, path: string, options: ConnectionOptions) {
    this.#handle = handle;
    this.#path = path;
    this.#options = options;
  }

  all<Row>(query: CompiledQuery<Row>): Row[] {
    try {
      const prepared = this.#statement(query.sql);
      const rows = prepared.statement.all(...(query.parameters as SQLInputValue[])) as unknown as SQLOutputValue[][];
      return rows.map((values) => toRow<Row>(prepared, values));
    } catch (error) {
      throw this.#judge(error, query.sql);
    }
  }

  first<Row>(query: CompiledQuery<Row>): Row | null {
    try {
      const prepared = this.#statement(query.sql);
      const values = prepared.statement.get(...(query.parameters as SQLInputValue[])) as SQLOutputValue[] | undefined;
      return values === undefined ? null : toRow<Row>(prepared, values);
    } catch (error) {
      throw this.#judge(error, query.sql);
    }
  }

  run(query: CompiledQuery): number {
    return this.#guard(query.sql, ({ statement }) =>
      Number(statement.run(...(query.parameters as SQLInputValue[])).changes),
    );
  }

  beginSnapshot(): void {
    this.#guard("BEGIN", ({ statement }) => statement.run());
  }

  endSnapshot(): void {
    this.#end("COMMIT");
  }

  dataVersion(): number {
    return this.#guard("PRAGMA data_version", ({ statement }) => Number((statement.get() as unknown as number[])[0]));
  }

  begin(durable: boolean): void {
    this.prepareWrite(durable);
    try {
      this.#handle.exec("BEGIN IMMEDIATE");
    } catch (error) {
      throw this.#judge(error, "BEGIN IMMEDIATE");
    }
  }

  prepareWrite(durable = true): void {
    this.assertHealthy();
    this.#renew();
    this.#flush(durable);
  }

  commit(): void {
    try {
      this.#handle.exec("COMMIT");
    } catch (error) {
      // The WAL's index could not grow after the WAL itself was written. A restart may still find the transaction. So
      // this must not be reported as a full disk, which means that nothing was stored.
      if (sqliteCode(error) !== IO_ERROR_SHM_SIZE) throw this.#judge(error, "COMMIT");
      this.#options.onFault?.({ kind: "full", cause: error });
      throw new DatabaseUnavailableError("The disk of the database is full: the commit is uncertain", { cause: error });
    }
  }

  rollback(): void {
    this.#end("ROLLBACK");
  }

  /**
   * After a read that failed, the end of its transaction fails as well, although it ends it. It has no caller who could do anything about it,
   * so this never throws: what it cannot end, it gives up. A full disk or a failed flush makes SQLite roll back by itself
   * (sqlite.org/lang_transaction.html §2.4).
   */
  #end(text: "COMMIT" | "ROLLBACK"): void {
    try {
      if (this.#handle.isTransaction) this.#statement(text).statement.run();
    } catch {
      this.#isSpent = this.#handle.isTransaction;
    }
  }

  /** The new handle is there before the old one goes: the last one to close would take the write-ahead log with it. */
  #renew(): void {
    if (!this.#isSpent) return;
    this.#options.assertThere?.();
    const old = this.#handle;
    this.#handle = openHandle(this.#path, this.#options);
    this.#isSpent = false;
    this.#flushes = true;
    this.#statements.clear();
    closeQuietly(old);
  }

  /** Cannot be changed within a transaction. */
  #flush(always: boolean): void {
    if (this.#flushes === always) return;
    const text = `PRAGMA synchronous = ${always ? "FULL" : "NORMAL"}`;
    try {
      this.#handle.exec(text);
    } catch (error) {
      throw this.#judge(error, text);
    }
    this.#flushes = always;
  }

  assertHealthy(): void {
    if (this.#flushFailure !== null) {
      const more = { cause: this.#flushFailure, known: true };
      throw new DatabaseUnavailableError("The database has stopped: a flush to the disk failed", more);
    }
  }

  ping(): void {
    this.#guard("SELECT 1", ({ statement }) => statement.get());
  }

  close(): void {
    this.#statements.clear();
    closeQuietly(this.#handle);
  }

  #statement(sql: string): Prepared {
    this.#renew();
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

  #guard<Result>(sql: string, step: (prepared: Prepared) => Result): Result {
    try {
      return step(this.#statement(sql));
    } catch (error) {
      throw this.#judge(error, sql);
    }
  }

  /** The error in the port's words; a failed flush is remembered. */
  #judge(error: unknown, query: string): unknown {
    const code = sqliteCode(error);
    if (isFlushFailure(code)) return this.#stop(error);
    if (isDamage(error, code)) return this.#reportDamage(error, query);
    if (code !== null && AWAY.has(code & 0xff)) this.#options.onFault?.({ kind: "suspect" });
    if (code !== null && (code & 0xff) === CONSTRAINT) return toConstraintError(this.#handle, error, code);
    const translated = translate(error, code);
    if (translated instanceof DatabaseFullError) this.#options.onFault?.({ kind: "full", cause: error });
    return translated;
  }

  #stop(cause: unknown): DatabaseUnavailableError {
    if (this.#flushFailure === null) this.#options.onFault?.({ kind: "stopped", cause });
    this.#flushFailure ??= cause;
    return new DatabaseUnavailableError("A flush of the database to the disk failed", { cause, known: true });
  }

  /** The statement without its values: the log may show it, and it says which table or index to look at. */
  #reportDamage(cause: unknown, query: string): DatabaseUnavailableError {
    const file = this.#path;
    this.#options.onFault?.({ kind: "damaged", file, query, cause, examine: () => examine(file) });
    return new DatabaseUnavailableError(`The database ${file} is damaged where this reads: ${query}`, { cause });
  }
}

function closeQuietly(handle: DatabaseSync): void {
  try {
    if (handle.isOpen) handle.close();
  } catch {
    // Whatever it held is given up.
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
const PERMISSION = 3;
const BUSY = 5;
const LOCKED = 6;
const NO_MEMORY = 7;
const READ_ONLY = 8;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const PROTOCOL = 15;
const CONSTRAINT = 19;
const NOT_A_DATABASE = 26;
/** The file cannot be opened, read or written: for the moment, or for longer. */
const AWAY: ReadonlySet<number> = new Set([PERMISSION, NO_MEMORY, READ_ONLY, IO_ERROR, CANNOT_OPEN, PROTOCOL]);
/** A page that the disk or the file system does not give back. */
const UNREADABLE: ReadonlySet<number> = new Set([266, 522, 8202, 8458]);
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
    default:
      return AWAY.has(code & 0xff)
        ? new DatabaseUnavailableError("The database cannot be read or written", cause)
        : error;
  }
}

/** No row of ours holds an integer that JavaScript cannot: `node:sqlite` refuses to read one. */
function isDamage(error: unknown, code: number | null): boolean {
  if (code === null) return error instanceof Error && "code" in error && error.code === "ERR_OUT_OF_RANGE";
  return (code & 0xff) === CORRUPT || (code & 0xff) === NOT_A_DATABASE || UNREADABLE.has(code);
}

function isFlushFailure(code: number | null): boolean {
  return code === IO_ERROR_FSYNC || code === IO_ERROR_DIRECTORY_FSYNC;
}

function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return null;
  return error.errcode;
}

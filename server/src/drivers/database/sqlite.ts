/** The embedded database: SQLite in WAL mode through `node:sqlite`. Held by test/suites/database.ts. */
import { AsyncLocalStorage } from "node:async_hooks";
import { closeSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Compilable, CompiledQuery, Kysely } from "kysely";
import {
  accountToLock,
  type Database,
  type DatabaseCapabilities,
  type DatabaseLoad,
  DatabaseFullError,
  DatabaseUnavailableError,
  hintsOf,
  lockOrder,
  type Queries,
  type TransactionOptions,
  type Work,
} from "../../ports/database.ts";
import { readDiskRoom } from "../disk-room.ts";
import { makeDirectory } from "../make-directory.ts";
import type { DiskRoom } from "../../ports/disk-room.ts";
import { Durations } from "../../ports/durations.ts";
import { NO_NEWS } from "../../ports/news.ts";
import type { OnStorageFault } from "../../ports/storage-faults.ts";
import type { AccountRow, Tables } from "../../ports/tables.ts";
import { compilerFor } from "./sqlite/compiler.ts";
import { openConnection, type SqliteConnection } from "./sqlite/connection.ts";
import { CommittedReads } from "./sqlite/committed-reads.ts";
import { DatabaseFiles } from "./sqlite/files.ts";
import { Pace } from "./sqlite/pace.ts";
import { openReserve, type Reserve } from "./sqlite/reserve.ts";
import { SchemaQueryGuard } from "./schema-guard.ts";
import { Turn } from "./turn.ts";

export interface SqliteOptions {
  /** Path of the database file; `-wal`, `-shm` and `-reserve` are beside it. Its directory is made when missing. */
  readonly path: string;
  /** How much is kept free for deleting on a full disk; 0 for none. Default 8 MiB. */
  readonly reserveBytes?: number;
  /**
   * How long to wait for other processes' transactions, in attempts of 50 ms each. Default 200: a disk that does not
   * answer for seconds.
   */
  readonly busyAttempts?: number;
  readonly onFault?: OnStorageFault;
}

/**
 * Opens or creates the database. One connection writes, one transaction at a time; another reads committed state.
 * @throws DatabaseUnavailableError when the file cannot be opened or is not a database.
 */
export async function openSqlite(options: SqliteOptions): Promise<Database> {
  makePrivate(options.path);
  const { path, busyAttempts = 200, onFault = ignore } = options;
  const opened: { files: DatabaseFiles | null } = { files: null };
  const shared = { onFault, assertThere: () => opened.files?.assertThere() };
  // The process that makes the database holds it alone for a moment.
  const writer = await patiently(() => openConnection(path, { readOnly: false, ...shared }), busyAttempts);
  try {
    const reader = openConnection(path, { readOnly: true, ...shared });
    const reserve = await openReserve(`${path}-reserve`, options.reserveBytes ?? 8 * 1024 * 1024);
    const files = (opened.files = new DatabaseFiles(path, onFault));
    return new SqliteDatabase(path, writer, reader, { reserve, busyAttempts, files, onFault });
  } catch (error) {
    writer.close();
    throw error;
  }
}

function ignore(): void {}

/**
 * The rows name every file of every account. SQLite would give a new file the umask's mode, and gives `-wal` and `-shm`
 * the mode of the database (os_unix.c, findCreateFileMode). A file that is there stays as it is.
 */
function makePrivate(path: string): void {
  try {
    makeDirectory(dirname(path));
    closeSync(openSync(path, "a", 0o600));
  } catch (error) {
    throw new DatabaseUnavailableError(`The database ${path} cannot be made`, { cause: error });
  }
}

interface AttemptOptions {
  readonly durable?: boolean;
  readonly busyAttempts?: number;
  readonly isMigration?: boolean;
}

interface Surroundings {
  readonly reserve: Reserve;
  readonly busyAttempts: number;
  readonly files: DatabaseFiles;
  readonly onFault: OnStorageFault;
}

class SqliteDatabase implements Database {
  readonly capabilities: DatabaseCapabilities = { dialect: "sqlite", concurrentWriters: false };
  readonly build: Kysely<Tables> = compilerFor<Tables>();
  readonly news = NO_NEWS;
  readonly schemaGuard = new SchemaQueryGuard();
  readonly commits = new Durations();
  readonly #path: string;
  readonly #writer: SqliteConnection;
  readonly #committed: CommittedReads;
  readonly #reserve: Reserve;
  readonly #busyAttempts: number;
  readonly #files: DatabaseFiles;
  readonly #onFault: OnStorageFault;
  readonly #turn = new Turn();
  readonly #pace = new Pace();
  /** Whether the caller is inside a transaction's work; see {@link Database}. */
  readonly #inside = new AsyncLocalStorage<{ open: boolean }>();

  constructor(
    path: string,
    writer: SqliteConnection,
    reader: SqliteConnection,
    { reserve, busyAttempts, files, onFault }: Surroundings,
  ) {
    this.#path = path;
    this.#writer = writer;
    this.#committed = new CommittedReads(reader);
    this.#reserve = reserve;
    this.#busyAttempts = busyAttempts;
    this.#files = files;
    this.#onFault = onFault;
  }

  /** One connection writes and one reads; writers wait for their turn. */
  get load(): DatabaseLoad {
    return { open: 2, idle: this.#turn.waiting === 0 ? 2 : 1, waiting: Math.max(0, this.#turn.waiting - 1) };
  }

  async all<Row>(query: Compilable<Row>): Promise<Row[]> {
    const compiled = query.compile();
    return isRead(compiled) ? this.#committed.all(compiled) : this.transaction((transaction) => transaction.all(query));
  }

  async first<Row>(query: Compilable<Row>): Promise<Row | null> {
    const compiled = query.compile();
    return isRead(compiled)
      ? this.#committed.first(compiled, hintsOf(query))
      : this.transaction((transaction) => transaction.first(query));
  }

  async run(query: Compilable): Promise<number> {
    return this.transaction((transaction) => transaction.run(query));
  }

  /** One transaction writes at a time, so its beginning locks every account. */
  act<Result>(
    accountIds: readonly string[],
    work: (transaction: Queries, accounts: readonly AccountRow[]) => Promise<Result>,
    options: TransactionOptions = {},
  ): Promise<Result> {
    return this.transaction(async (transaction) => {
      const accounts: AccountRow[] = [];
      for (const id of lockOrder(accountIds)) {
        const account = await transaction.first(accountToLock(transaction, { id }));
        if (account !== null) accounts.push(account);
      }
      return work(transaction, accounts);
    }, options);
  }

  async transaction<Result>(work: Work<Result>, options: TransactionOptions = {}): Promise<Result> {
    using _turn = await this.#acquireTurn();
    try {
      return await this.#attempt(work, options);
    } catch (error) {
      if (!(error instanceof DatabaseFullError) || options.freesSpace !== true) throw error;
      if (!(await this.#reserve.release())) throw error;
      return await this.#attempt(work, options);
    }
  }

  async snapshot<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result> {
    // Another file at the path would show another state of affairs than all other reads.
    this.#files.assertThere();
    const connection = openConnection(this.#path, { readOnly: true, onFault: this.#onFault });
    const marker = { open: true };
    try {
      connection.beginSnapshot();
      // The first read fixes what all others see.
      connection.dataVersion();
      return await work(new SqliteTransaction(this.build, connection, { marker, pace: this.#pace }));
    } finally {
      marker.open = false;
      connection.close();
    }
  }

  async migration<Result>(work: Work<Result>): Promise<Result> {
    using _turn = await this.#acquireTurn();
    return await this.#attempt(work, { busyAttempts: Number.POSITIVE_INFINITY, isMigration: true });
  }

  async ping(): Promise<void> {
    this.#writer.assertHealthy();
    this.#files.assertThere();
    this.#committed.ping();
    this.#checkSchema((query) => this.#committed.first(query, {}));
  }

  /** What its own reserve takes is used already. */
  diskRoom(): Promise<DiskRoom> {
    return readDiskRoom(dirname(this.#path), 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    using _turn = await this.#turn.acquire();
    this.#reserve[Symbol.dispose]();
    this.#committed.close();
    this.#writer.close();
  }

  async #attempt<Result>(
    work: Work<Result>,
    { durable = true, busyAttempts, isMigration = false }: AttemptOptions,
  ): Promise<Result> {
    this.#files.assertThere();
    await patiently(() => this.#writer.begin(durable), busyAttempts ?? this.#busyAttempts);
    const marker = { open: true };
    try {
      if (!isMigration) this.#checkSchema((query) => this.#writer.first(query));
      const queries = new SqliteTransaction(this.build, this.#writer, { marker, pace: this.#pace });
      const result = await this.#inside.run(marker, () => work(queries));
      this.#timed(() => this.#writer.commit());
      this.#committed.refresh();
      return result;
    } catch (error) {
      this.#writer.rollback();
      throw error;
    } finally {
      marker.open = false;
    }
  }

  /** @throws OutdatedServerError */
  #checkSchema(first: <Row>(query: CompiledQuery<Row>) => Row | null): void {
    const { query } = this.schemaGuard;
    if (query !== null) this.schemaGuard.check(first(query));
  }

  #timed<Result>(commit: () => Result): Result {
    const began = performance.now();
    try {
      return commit();
    } finally {
      this.commits.observe(performance.now() - began);
    }
  }

  async #acquireTurn(): Promise<Disposable> {
    if (this.#inside.getStore()?.open === true) {
      throw new Error("A transaction's work must use the Queries it was given: this write would wait for itself");
    }
    if (this.#pace.isSpent) await this.#pace.giveWay();
    return this.#turn.acquire();
  }
}

/**
 * Another process may hold the write lock. SQLite's own busy timeout would block the event loop for as long, so it is
 * short and the waiting is done here.
 */
async function patiently<Result>(step: () => Result, attempts: number): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return step();
    } catch (error) {
      if (!(error instanceof DatabaseUnavailableError) || !error.busy || attempt >= attempts) throw error;
      await sleep(25);
    }
  }
}

/** What runs the queries of one transaction or snapshot; unusable once that is over. */
class SqliteTransaction implements Queries {
  readonly build: Kysely<Tables>;
  readonly #connection: SqliteConnection;
  readonly #marker: { readonly open: boolean };
  readonly #pace: Pace;

  constructor(
    build: Kysely<Tables>,
    connection: SqliteConnection,
    { marker, pace }: { readonly marker: { readonly open: boolean }; readonly pace: Pace },
  ) {
    this.build = build;
    this.#connection = connection;
    this.#marker = marker;
    this.#pace = pace;
  }

  async all<Row>(query: Compilable<Row>): Promise<Row[]> {
    const rows = (await this.#live()).all<Row>(query.compile());
    this.#pace.count(rows.length);
    return rows;
  }

  async first<Row>(query: Compilable<Row>): Promise<Row | null> {
    const row = (await this.#live()).first<Row>(query.compile());
    this.#pace.count(0);
    return row;
  }

  async run(query: Compilable): Promise<number> {
    const changed = (await this.#live()).run(query.compile());
    this.#pace.count(changed);
    return changed;
  }

  /** Others' reads see what is committed; their writes wait for this transaction, however long it takes. */
  async #live(): Promise<SqliteConnection> {
    if (this.#pace.isSpent) await this.#pace.giveWay();
    if (!this.#marker.open) throw new Error("The transaction is over");
    return this.#connection;
  }
}

/** Everything but a plain SELECT goes to the writer: `INSERT … RETURNING` answers rows as well. */
function isRead(query: CompiledQuery): boolean {
  return query.query.kind === "SelectQueryNode";
}

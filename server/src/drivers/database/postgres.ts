/** PostgreSQL, for many processes. Held by test/suites/database.ts and database-races.ts. */
import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { type Compilable, type CompiledQuery, type Kysely, sql } from "kysely";
import {
  type Database,
  type DatabaseCapabilities,
  type DatabaseLoad,
  DatabaseUnavailableError,
  isPrepared,
  lockOrder,
  type Queries,
  type TransactionOptions,
  type Work,
} from "../../ports/database.ts";
import type { AccountRow, Tables } from "../../ports/tables.ts";
import type { DiskRoom } from "../../ports/disk-room.ts";
import { Durations } from "../../ports/durations.ts";
import type { OnStorageFault } from "../../ports/storage-faults.ts";
import { type News, NO_NEWS } from "../../ports/news.ts";
import { AccountTurns } from "./postgres/account-turns.ts";
import { Bulletin } from "./postgres/bulletin.ts";
import { compilerFor } from "./postgres/compiler.ts";
import { metAnother, wasNeverSent } from "./postgres/failures.ts";
import {
  type Answered,
  Broken,
  type Connection,
  Connections,
  type PoolOptions,
  type SingleOptions,
} from "./postgres/pool.ts";
import { SchemaQueryGuard } from "./schema-guard.ts";

export type PostgresOptions = Partial<PoolOptions> &
  Pick<PoolOptions, "url"> & {
    readonly onFault?: OnStorageFault;
    /** Past a pooler; null: what other processes do is looked for. */
    readonly directUrl?: string | null;
  };

export const POSTGRES_DEFAULTS = {
  connections: 10,
  connectTimeout: 5_000,
  statementTimeout: 30_000,
  lockTimeout: 10_000,
  sessions: true,
};

/** Most attempts of a transaction that meets others, and of one whose connection ends before its commit. */
const ATTEMPTS = 6;
const INTERRUPTIONS = 3;
/** Milliseconds; twice as much each time, and a part of it by chance. */
const FIRST_WAIT = 8;
/** How long acts wait for those of the same account: longer than many of them take on a busy machine. Milliseconds. */
const PATIENCE = 30_000;
/** Any number that nothing else in the database uses: one process at a time changes the schema, while nobody writes. */
const SCHEMA_LOCK = 0x636f66666572;

/** Opens no connection yet: whoever asks first learns whether there is a server. */
export function openPostgres({ directUrl = null, ...options }: PostgresOptions): Database {
  const bulletin = directUrl === null ? null : new Bulletin(directUrl);
  return new Postgres(new Connections({ ...POSTGRES_DEFAULTS, ...options }), bulletin);
}

interface AttemptOptions {
  readonly mode: Parameters<Connection["begin"]>[0];
  readonly settings: readonly string[];
  /** At the schema; null where nothing is written, or the schema itself. */
  readonly schemaQuery: SchemaQueryGuard["query"];
}

class Postgres implements Database {
  readonly capabilities: DatabaseCapabilities = { dialect: "postgres", concurrentWriters: true };
  readonly build: Kysely<Tables> = compilerFor<Tables>();
  readonly schemaGuard = new SchemaQueryGuard();
  readonly commits = new Durations();
  readonly #connections: Connections;
  readonly #bulletin: Bulletin | null;
  readonly #turns = new AccountTurns(PATIENCE);
  /** Whether the caller is inside a transaction's work; see {@link Database}. */
  readonly #inside = new AsyncLocalStorage<{ open: boolean }>();

  constructor(connections: Connections, bulletin: Bulletin | null) {
    this.#connections = connections;
    this.#bulletin = bulletin;
  }

  get news(): News {
    return this.#bulletin ?? NO_NEWS;
  }

  get load(): DatabaseLoad {
    return this.#connections.load;
  }

  async all<Row>(query: Compilable<Row>): Promise<Row[]> {
    const compiled = query.compile();
    if (!isRead(compiled)) return this.transaction((transaction) => transaction.all(query));
    return (await this.#read(compiled, { isPrepared: isPrepared(query), isLookUp: false })).rows;
  }

  async first<Row>(query: Compilable<Row>): Promise<Row | null> {
    const compiled = query.compile();
    if (!isRead(compiled)) return this.transaction((transaction) => transaction.first(query));
    return (await this.#read(compiled, { isPrepared: isPrepared(query), isLookUp: true })).rows[0] ?? null;
  }

  async run(query: Compilable): Promise<number> {
    return this.transaction((transaction) => transaction.run(query));
  }

  async act<Result>(
    accountIds: readonly string[],
    work: (transaction: Queries, accounts: readonly AccountRow[]) => Promise<Result>,
    options: TransactionOptions = {},
  ): Promise<Result> {
    this.#requireOutside();
    const ids = lockOrder(accountIds);
    using _turns = await this.#turns.acquire(ids);
    const result = await this.transaction(async (transaction) => {
      const accounts = await transaction.all(lockAccounts(transaction, ids));
      return work(transaction, accounts);
    }, options);
    this.#bulletin?.notify(ids);
    return result;
  }

  transaction<Result>(work: Work<Result>, options: TransactionOptions = {}): Promise<Result> {
    this.#requireOutside();
    const settings = options.durable === false ? ["synchronous_commit = off"] : [];
    return this.#repeating(() => this.#attempt(work, { mode: "", settings, schemaQuery: this.schemaGuard.query }));
  }

  snapshot<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result> {
    const mode = "ISOLATION LEVEL REPEATABLE READ READ ONLY";
    // A long read is not cut off between two of its pages.
    const settings = ["idle_in_transaction_session_timeout = 0"];
    return this.#repeating(() => this.#attempt(work, { mode, settings, schemaQuery: null }));
  }

  migration<Result>(work: Work<Result>): Promise<Result> {
    this.#requireOutside();
    const settings = ["statement_timeout = 0", "lock_timeout = 0", "idle_in_transaction_session_timeout = 0"];
    const locked: Work<Result> = async (transaction) => {
      const lock = sql`select pg_advisory_xact_lock(${sql.lit(SCHEMA_LOCK)})`;
      await transaction.run({ compile: () => lock.compile(this.build) });
      return work(transaction);
    };
    return this.#repeating(() => this.#attempt(locked, { mode: "", settings, schemaQuery: null }));
  }

  async ping(): Promise<void> {
    using connection = await this.#connections.acquire();
    this.schemaGuard.check(await connection.firstRow(this.schemaGuard.query?.sql ?? "SELECT NULL WHERE false"));
  }

  diskRoom(): Promise<DiskRoom | null> {
    return Promise.resolve(null);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#bulletin?.[Symbol.asyncDispose]();
    await this.#connections.close();
  }

  /** One that lost its connection is asked once more. */
  async #read<Row>(compiled: CompiledQuery<Row>, options: SingleOptions): Promise<Answered<Row>> {
    try {
      return await this.#connections.single(compiled, options);
    } catch (error) {
      if (!(error instanceof Broken) && !metAnother(error)) throw error;
    }
    const once = async () => {
      try {
        return await this.#connections.single(compiled, options);
      } catch (error) {
        throw error instanceof Broken ? new Interrupted(error.by) : error;
      }
    };
    return this.#repeating(once);
  }

  /** Nothing was committed by an attempt that is made again. */
  async #repeating<Result>(attempt: () => Promise<Result>): Promise<Result> {
    for (let number = 1; ; number += 1) {
      try {
        return await attempt();
      } catch (error) {
        const most = error instanceof Interrupted ? INTERRUPTIONS : metAnother(error) ? ATTEMPTS : 0;
        if (number >= most) throw error instanceof Interrupted ? error.by : error;
        await sleep(FIRST_WAIT * 2 ** (number - 1) * (0.5 + Math.random()));
      }
    }
  }

  async #attempt<Result>(work: Work<Result>, { mode, settings, schemaQuery }: AttemptOptions): Promise<Result> {
    using connection = await this.#connections.acquire();
    const marker = { open: true };
    try {
      // No migration begins until this transaction is over, and the query sees those that ended before.
      const schemaChecks =
        schemaQuery === null ? [] : [`SELECT pg_advisory_xact_lock_shared(${String(SCHEMA_LOCK)})`, schemaQuery.sql];
      this.schemaGuard.check(await connection.begin(mode, settings, schemaChecks));
      const queries = new PostgresTransaction(this.build, connection, marker);
      // A snapshot holds no lock that a write of its caller could wait for.
      const result = await (mode === "" ? this.#inside.run(marker, () => work(queries)) : work(queries));
      marker.open = false;
      const began = performance.now();
      await commit(connection);
      if (mode === "") this.commits.observe(performance.now() - began);
      return result;
    } catch (error) {
      marker.open = false;
      if (error instanceof UncertainCommit) throw error.unavailable;
      // The server rolls back by itself what its client is gone for.
      if (connection.isBroken) throw new Interrupted(error);
      await connection.run("ROLLBACK").catch(() => undefined);
      throw error;
    }
  }

  #requireOutside(): void {
    if (this.#inside.getStore()?.open === true)
      throw new Error("A transaction's work must use the Queries it was given: this write would wait for itself");
  }
}

/** Everything but a plain SELECT may write. Those for this dialect alone are written out. */
function isRead({ query, sql: text }: CompiledQuery): boolean {
  return query.kind === "SelectQueryNode" || (query.kind === "RawNode" && /^\s*select\s/i.test(text));
}

/** All of them in one statement, which takes the locks in the order of the rows. */
function lockAccounts(queries: Queries, ids: readonly string[]): Compilable<AccountRow> & { hints: object } {
  const query = sql<AccountRow>`select * from accounts where id = any(${ids}::text[]) order by id for update`;
  return { hints: {}, compile: (): CompiledQuery<AccountRow> => query.compile(queries.build) };
}

/** The connection ended before the commit was asked for. */
class Interrupted extends Error {
  readonly by: unknown;
  constructor(by: unknown) {
    super("interrupted");
    this.by = by;
  }
}
/** It ended while the commit was under way. */
class UncertainCommit extends Error {
  readonly unavailable: DatabaseUnavailableError;
  constructor(cause: unknown) {
    super("uncertain");
    this.unavailable = new DatabaseUnavailableError("The connection ended: the commit is uncertain", { cause });
  }
}

async function commit(connection: Connection): Promise<void> {
  let answer: string;
  try {
    answer = await connection.run("COMMIT");
  } catch (error) {
    throw connection.isBroken && !wasNeverSent(error) ? new UncertainCommit(error) : error;
  }
  // What a work goes on with after a statement that failed is lost, without an error of the server's.
  if (answer !== "COMMIT") throw new Error("The transaction went on after a statement that failed: it was rolled back");
}

/** What runs the queries of one transaction or snapshot; unusable once that is over. */
class PostgresTransaction implements Queries {
  readonly build: Kysely<Tables>;
  readonly #connection: Connection;
  readonly #marker: { readonly open: boolean };

  constructor(build: Kysely<Tables>, connection: Connection, marker: { readonly open: boolean }) {
    this.build = build;
    this.#connection = connection;
    this.#marker = marker;
  }

  all: Queries["all"] = async (query) => (await this.#query(query)).rows;
  first: Queries["first"] = async (query) => (await this.#query(query)).rows[0] ?? null;
  run: Queries["run"] = async (query) => (await this.#query(query)).changed;

  #query<Row>(query: Compilable<Row>): Promise<Answered<Row>> {
    if (!this.#marker.open) throw new Error("The transaction is over");
    return this.#connection.query(query.compile(), isPrepared(query));
  }
}

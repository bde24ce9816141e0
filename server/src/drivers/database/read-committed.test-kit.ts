/**
 * TEST ONLY: a database over one SQLite file that lets transactions run side by side as PostgreSQL does at READ
 * COMMITTED.
 * What it does as PostgreSQL does: a statement sees what is committed when it is executed, and its own transaction's
 * writes. Others commit between two statements. A written row is locked until the end. A transaction that writes it
 * meanwhile waits, and executes again, condition included. So does one that inserts a value that another inserted,
 * changed or deleted under a unique index. So does one that refers to a row that another deletes, or deletes a row
 * that another refers to. `act` locks the accounts' rows in the order of their ids, and nothing else. A transaction
 * that closes a circle of waiting is rolled back and run again (40P01), as are some commits (40001). After a failed
 * statement a transaction takes no other (25P02). A read beside the own transaction is refused: it would take a second
 * connection of the pool.
 * What it does not: a transaction that waited looks up all rows of its statement again. PostgreSQL looks at the new
 * version of the locked row, and at subqueries as of before. A reference to a row that another has only inserted
 * waits, where PostgreSQL refuses it. A read is not locked, whatever is asked for.
 * How: each statement is executed in a SQLite transaction on top of the rows that its own transaction has written so
 * far, and rolled back. Temporary triggers note what it wrote. A commit writes those rows.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Compilable, CompiledQuery, Kysely } from "kysely";
import {
  accountToLock,
  ConstraintError,
  type Database,
  type DatabaseCapabilities,
  lockOrder,
  type Queries,
  type Work,
} from "../../ports/database.ts";
import type { AccountRow, Tables } from "../../ports/tables.ts";
import type { DiskRoom } from "../../ports/disk-room.ts";
import { Durations } from "../../ports/durations.ts";
import { NO_NEWS } from "../../ports/news.ts";
import { compilerFor } from "./sqlite/compiler.ts";
import { openConnection, type SqliteConnection } from "./sqlite/connection.ts";
import { openSnapshot, type Snapshot } from "./sqlite/snapshot.ts";
import { type WrittenRow, WrittenRows } from "./written-rows.test-kit.ts";
import { SchemaQueryGuard } from "./schema-guard.ts";

/**
 * Weaker than a driver may be, to see that a race is one. "early": reads show the state of before the transaction had its locks, but
 * of what `act` locks and of tables that the transaction has written. "unlocked": `act` locks nothing.
 */
export type Weakness = "early" | "unlocked";

export interface ReadCommittedOptions {
  readonly weakness?: Weakness | null;
  /** Asked at the first commit of each work: whether it fails, and the work is run again. */
  readonly fails?: () => boolean;
}

/** How often one work is run. */
const ATTEMPTS = 20;

type Kind = "all" | "first" | "run";

class Conflict extends Error {
  override readonly name = "Conflict";
}

class Transaction {
  readonly written: WrittenRow[] = [];
  readonly locks = new Set<string>();
  readonly ended = Promise.withResolvers<undefined>();
  waitsFor: Transaction | null = null;
  failure: unknown = null;
  isOpen = true;
  early: Snapshot | null = null;
}

export function openReadCommitted(path: string, options: ReadCommittedOptions = {}): Database {
  return new ReadCommitted(path, options);
}

class ReadCommitted implements Database {
  readonly capabilities: DatabaseCapabilities = { dialect: "sqlite", concurrentWriters: true };
  readonly build: Kysely<Tables> = compilerFor<Tables>();
  readonly news = NO_NEWS;
  readonly schemaGuard = new SchemaQueryGuard();
  readonly load = { open: 1, idle: 0, waiting: 0 };
  readonly commits = new Durations();
  readonly #path: string;
  readonly #options: ReadCommittedOptions;
  readonly #connection: SqliteConnection;
  readonly #rows: WrittenRows;
  readonly #active = new Set<Transaction>();
  readonly #inside = new AsyncLocalStorage<Transaction>();

  constructor(path: string, options: ReadCommittedOptions) {
    this.#path = path;
    this.#options = options;
    this.#connection = openConnection(path, { readOnly: false });
    this.#rows = new WrittenRows(this.#connection, this.build);
  }

  all: Queries["all"] = (query) => this.#alone("all", query);
  first: Queries["first"] = (query) => this.#alone("first", query);
  run: Queries["run"] = (query) => this.#alone("run", query);

  transaction<Result>(work: Work<Result>): Promise<Result> {
    return this.#patiently((transaction) => work(this.#queriesOf(transaction)));
  }

  act<Result>(
    accountIds: readonly string[],
    work: (queries: Queries, accounts: readonly AccountRow[]) => Promise<Result>,
  ): Promise<Result> {
    return this.#patiently(async (transaction) => {
      const queries = this.#queriesOf(transaction);
      const accounts: AccountRow[] = [];
      for (const id of lockOrder(accountIds)) {
        if (this.#options.weakness !== "unlocked") await this.#lock(transaction, `accounts ${JSON.stringify([id])}`);
        const locking = accountToLock(queries, { id }).compile();
        const row = await this.#perform<AccountRow | null>(transaction, "first", locking);
        if (row !== null) accounts.push(row);
      }
      return work(queries, accounts);
    });
  }

  async snapshot<Result>(work: Work<Result>): Promise<Result> {
    using snapshot = openSnapshot(this.#path);
    return await work(snapshot);
  }

  migration(): Promise<never> {
    return Promise.reject(new Error("The file has its schema before it is opened here"));
  }

  ping(): Promise<void> {
    return Promise.resolve(this.#connection.ping());
  }

  diskRoom(): Promise<DiskRoom | null> {
    return Promise.resolve(null);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.#connection.close());
  }

  async #alone<Result>(kind: Kind, query: Compilable): Promise<Result> {
    const compiled = query.compile();
    if (!isRead(compiled)) return this.#patiently((transaction) => this.#perform<Result>(transaction, kind, compiled));
    if (this.#inside.getStore()?.isOpen === true) throw new Error(`A read beside the own transaction: ${compiled.sql}`);
    return this.#connection[kind](compiled) as Result;
  }

  #queriesOf(transaction: Transaction): Queries {
    const perform = (kind: Kind) => async (query: Compilable) => {
      const compiled = query.compile();
      const { early } = transaction;
      if (early !== null && isRead(compiled) && !isOfOwn(transaction, compiled))
        return early[kind](query) as Promise<never>;
      const result = await this.#perform<never>(transaction, kind, compiled);
      // A transaction whose condition did not hold looks again, and must see why. Clearing up what is not there is none.
      if (!isRead(compiled) && !isDeletion(compiled) && isNothing(result)) early?.renew();
      return result;
    };
    return { build: this.build, all: perform("all"), first: perform("first"), run: perform("run") };
  }

  async #patiently<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    if (this.#inside.getStore()?.isOpen === true) throw new Error("A write beside the own transaction");
    for (let attempt = 1; ; attempt += 1) {
      const transaction = new Transaction();
      this.#active.add(transaction);
      try {
        if (this.#options.weakness === "early") transaction.early = await this.#openEarly();
        const result = await this.#inside.run(transaction, () => work(transaction));
        if (transaction.failure !== null) throw new Error("A failed transaction cannot be committed");
        if (attempt === 1 && this.#options.fails?.() === true) throw (transaction.failure = new Conflict());
        this.#commit(transaction);
        return result;
      } catch (error) {
        // Whatever the work made of it: nothing of it has happened.
        if (!(transaction.failure instanceof Conflict) || attempt === ATTEMPTS) throw error;
      } finally {
        transaction.isOpen = false;
        this.#active.delete(transaction);
        transaction.early?.[Symbol.dispose]();
        transaction.ended.resolve(undefined);
      }
      // A transaction that waited for it comes first, as it was before it in the row's queue.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #commit({ written }: Transaction): void {
    if (written.length === 0) return;
    this.#connection.begin(false);
    this.#rows.replay(written);
    this.#connection.commit();
  }

  async #openEarly(): Promise<Snapshot> {
    const snapshot = openSnapshot(this.#path);
    // What it shows is fixed by its first read.
    await snapshot.first(this.build.selectFrom("accounts").select("id").limit(1));
    return snapshot;
  }

  async #perform<Result>(transaction: Transaction, kind: Kind, query: CompiledQuery): Promise<Result> {
    if (!transaction.isOpen) throw new Error("The transaction is over");
    if (transaction.failure !== null) throw new Error("The transaction has failed, and takes no other statement");
    return this.#untilFree(transaction, () => this.#attempt<Result>(transaction, () => this.#connection[kind](query)));
  }

  async #lock(transaction: Transaction, row: string): Promise<void> {
    await this.#untilFree(transaction, () => {
      const holder = this.#holderOf(transaction, row);
      if (holder === null) transaction.locks.add(row);
      return holder ?? { result: null };
    });
  }

  /** Tries again whenever the named transaction has ended. */
  async #untilFree<Result>(
    transaction: Transaction,
    step: () => Transaction | { readonly result: Result },
  ): Promise<Result> {
    try {
      for (;;) {
        const outcome = step();
        if (!(outcome instanceof Transaction)) return outcome.result;
        for (let other: Transaction | null = outcome; other !== null; other = other.waitsFor)
          if (other === transaction) throw new Conflict();
        transaction.waitsFor = outcome;
        await outcome.ended.promise;
        transaction.waitsFor = null;
      }
    } catch (error) {
      transaction.failure = error;
      throw error;
    }
  }

  #attempt<Result>(transaction: Transaction, execute: () => unknown): Transaction | { readonly result: Result } {
    const writers = [...this.#active].filter((other) => other !== transaction && other.written.length > 0);
    try {
      return this.#onTop(transaction.written, () => {
        const result = execute() as Result;
        const written = this.#rows.take();
        const keys = written.map(({ table, key }) => `${table} ${key}`);
        for (const key of keys) {
          const holder = this.#holderOf(transaction, key);
          if (holder !== null) return holder;
        }
        const inTheWay = keys.length === 0 ? undefined : writers.find((other) => !this.#rows.allow(other.written));
        if (inTheWay !== undefined) return inTheWay;
        transaction.written.push(...written);
        for (const key of keys) transaction.locks.add(key);
        return { result };
      });
    } catch (error) {
      const isMending = ({ written }: Transaction) => this.#passes([...written, ...transaction.written], execute);
      const inTheWay = error instanceof ConstraintError ? writers.find(isMending) : undefined;
      if (inTheWay === undefined) throw error;
      return inTheWay;
    }
  }

  #passes(written: readonly WrittenRow[], execute: () => unknown): boolean {
    try {
      this.#onTop(written, execute);
      return true;
    } catch (error) {
      if (error instanceof ConstraintError) return false;
      throw error;
    }
  }

  /** On top of what is committed and of these rows; nothing of it stays. */
  #onTop<Result>(written: readonly WrittenRow[], work: () => Result): Result {
    this.#connection.begin(false);
    try {
      this.#rows.replay(written);
      return work();
    } finally {
      this.#connection.rollback();
    }
  }

  #holderOf(transaction: Transaction, row: string): Transaction | null {
    return [...this.#active].find((other) => other !== transaction && other.locks.has(row)) ?? null;
  }
}

/** Everything else may write: `INSERT … RETURNING` answers rows as well. */
function isRead(query: CompiledQuery): boolean {
  return query.query.kind === "SelectQueryNode";
}

/** No row was written: as a count, as a row, or as a list of rows. */
function isNothing(result: unknown): boolean {
  return result === 0 || result === null || (Array.isArray(result) && result.length === 0);
}

function isDeletion(query: CompiledQuery): boolean {
  return query.query.kind === "DeleteQueryNode";
}

/** Rows of a table that the transaction has written. */
function isOfOwn({ written }: Transaction, { sql: text }: CompiledQuery): boolean {
  return written.some(({ table }) => text.includes(`"${table}"`));
}

/**
 * The database port. Kysely builds and types the queries and never runs them; a driver runs what was compiled.
 * So the same queries serve SQLite and PostgreSQL, and a hot query is compiled once (see {@link prepared}).
 */
import { type Compilable, type CompiledQuery, type Kysely, PostgresAdapter, type RawBuilder, sql } from "kysely";
import type { DiskRoom } from "./disk-room.ts";
import type { Durations } from "./durations.ts";
import type { News } from "./news.ts";
import type { AccountRow, Tables } from "./tables.ts";

/** Something that runs compiled queries: the database itself (committed state only) or one transaction. */
export interface Queries {
  /** Builds and compiles for this driver's dialect; executing through it throws. */
  readonly build: Kysely<Tables>;
  all<Row>(query: Compilable<Row>): Promise<Row[]>;
  /** The first row, or null. */
  first<Row>(query: Compilable<Row>): Promise<Row | null>;
  /** How many rows the statement changed. */
  run(query: Compilable): Promise<number>;
}

export interface DatabaseCapabilities {
  readonly dialect: "sqlite" | "postgres";
  /** Several processes may write at the same time without waiting for each other's transactions. */
  readonly concurrentWriters: boolean;
}

/** How busy the driver is, at this moment. */
export interface DatabaseLoad {
  /** Connections that are open, and those of them that rest. */
  readonly open: number;
  readonly idle: number;
  /** Callers that wait for one. */
  readonly waiting: number;
}

export interface TransactionOptions {
  /**
   * The work deletes more than it adds. When the medium is full, the driver opens the space it keeps in reserve and
   * runs `work` once more from its beginning. It makes the reserve again later: a full disk must not prevent deleting.
   */
  readonly freesSpace?: boolean;
  /** False: the commit survives a killed process, and not the loss of power. For what binds running processes only. */
  readonly durable?: false;
}

/** What one act or transaction does. It may be run again: see {@link Database}. */
export type Work<Result> = (transaction: Queries) => Promise<Result>;

/**
 * Failure contract. A violated constraint rejects with {@link ConstraintError}, and a full disk with
 * {@link DatabaseFullError}. A database that cannot be reached or stays locked rejects with
 * {@link DatabaseUnavailableError}, and so does one that is damaged where the query reads; one that a newer server has migrated, with
 * {@link OutdatedServerError}. Everything else is a defect and rejects with the driver's own error.
 * Work. `act`, `transaction` and `migration` resolve only once the commit is durable (it survives kill -9 and power
 * loss), and roll back when the work rejects. A driver may roll it back by itself and run it again from its beginning.
 * Reasons are a full disk, two acts that wait for each other, or a commit that meets another one. So nothing outside
 * of it may be counted twice, and it assigns its outside variables again each time. It must wait only for its own
 * queries, and uses the {@link Queries} it is given. A write through the database itself would wait for this very
 * work, so it rejects at once.
 * Reads outside see committed state, and go on while an act of many statements is at work: between them a driver gives
 * way. A statement itself may be as long as its rows are many. So writes over any number of rows go in pieces
 * (features/in-pieces.ts).
 */
export interface Database extends Queries, AsyncDisposable {
  readonly capabilities: DatabaseCapabilities;
  /** Which accounts acts have changed. Some engines tell of those of other processes, too. */
  readonly news: News;
  readonly schemaGuard: SchemaGuard;
  readonly load: DatabaseLoad;
  /** How long commits took, each with its flush. */
  readonly commits: Durations;
  /**
   * The unit of writing (docs/decisions/0032-the-account-is-the-unit-of-writing.md): an act of an account changes
   * everything that belongs to it. Its first statement locks the rows of the accounts, in the order of their ids,
   * until the end. Acts of one account come one after the other, and each reads its present state. `accounts` are the
   * rows, in that order; an id without a row is left out.
   */
  act<Result>(
    accountIds: readonly string[],
    work: (transaction: Queries, accounts: readonly AccountRow[]) => Promise<Result>,
    options?: TransactionOptions,
  ): Promise<Result>;
  /**
   * For rows without an account. Others may write at the same time, and commit between two of its statements. Only
   * constraints and the conditions of single statements hold.
   */
  transaction<Result>(work: Work<Result>, options?: TransactionOptions): Promise<Result>;
  /** For long reads: all of them see one state of the database, of a moment after the call. Writes reject. */
  snapshot<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result>;
  /**
   * A transaction for the schema. One of all processes that share the database is in it, and the others wait for as
   * long as it takes.
   */
  migration<Result>(work: Work<Result>): Promise<Result>;
  /** Rejects when a trivial read fails, while its files are not where they were, and for ever after a failed flush. */
  ping(): Promise<void>;
  /** The disk that it is on; null: it is on none of this machine. Rejects when the directory is gone. */
  diskRoom(): Promise<DiskRoom | null>;
}

/**
 * Stops a server that is older than the schema, which a newer one may change at any time. Every transaction that writes looks
 * at the schema within itself, and no migration begins between that look and the commit.
 */
export interface SchemaGuard {
  /** From now on: the schema that this process was made for. */
  expect(version: number): void;
  /** Resolves when a look has found a schema that servers of the expected one may not write to. */
  readonly outdated: Promise<OutdatedServerError>;
}

/** Several reads that see one state: a transaction's do anyway. */
export function consistently<Result>(
  queries: Queries & Partial<Pick<Database, "snapshot">>,
  work: (queries: Queries) => Promise<Result>,
): Promise<Result> {
  return queries.snapshot === undefined ? work(queries) : queries.snapshot(work);
}

/** For readers of a database who never change it, whatever its schema. */
export type DatabaseReader = Pick<Database, "snapshot"> & AsyncDisposable;

/** For the few queries that two dialects say differently. */
export function dialectOf({ build }: Pick<Queries, "build">): DatabaseCapabilities["dialect"] {
  return build.getExecutor().adapter instanceof PostgresAdapter ? "postgres" : "sqlite";
}

/** Milliseconds since the Unix epoch by the database's own clock, within a query: all who share it go by one clock. */
export function clockOf({ capabilities }: Pick<Database, "capabilities">): RawBuilder<number> {
  return capabilities.dialect === "sqlite"
    ? sql`cast(unixepoch('subsec') * 1000 as integer)`
    : sql`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`;
}

/** The same, read by itself. No process's own clock, once set, changes it. */
export async function readClock(database: Pick<Database, "capabilities">, queries: Queries): Promise<number> {
  const row = await queries.first(queries.build.selectNoFrom(clockOf(database).as("now")));
  return Number(row?.now);
}

/** `reference`: of a foreign key. */
export type ConstraintKind = "unique" | "check" | "reference";

export class ConstraintError extends Error {
  override readonly name = "ConstraintError";
  readonly kind: ConstraintKind;
  /**
   * For a unique constraint, the name of its index (schema/): `files_live_name`. One that the schema does not name
   * is called `<table>_pkey`, or `<table>_<column>_key`. null for the other kinds.
   */
  readonly constraint: string | null;
  constructor(message: string, more: { kind: ConstraintKind; constraint?: string | null; cause?: unknown }) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.kind = more.kind;
    this.constraint = more.constraint ?? null;
  }
}

/** Whether a row with the same values was there: `constraint` says which values, null whichever. */
export function isTaken(error: unknown, constraint: string | null = null): error is ConstraintError {
  return (
    error instanceof ConstraintError &&
    error.kind === "unique" &&
    (constraint === null || error.constraint === constraint)
  );
}

export class DatabaseFullError extends Error {
  override readonly name = "DatabaseFullError";
}

export class DatabaseUnavailableError extends Error {
  override readonly name = "DatabaseUnavailableError";
  /** Locked by another process: trying again later can succeed. */
  readonly busy: boolean;
  /** A state that lasts and was reported when it began: the log needs no line for each request that meets it. */
  readonly known: boolean;
  constructor(message: string, more: { cause?: unknown; busy?: boolean; known?: boolean } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.busy = more.busy ?? false;
    this.known = more.known ?? false;
  }
}

/** A newer server has migrated the database, and writes of this one would lose what the new schema keeps. */
export class OutdatedServerError extends DatabaseUnavailableError {}

/** A value that each use of a prepared query fills in. */
class Placeholder {
  readonly key: string;
  constructor(key: string) {
    this.key = key;
  }
}

/** What a driver may make use of, or ignore. */
export interface ReadHints {
  /** The row may come from memory as long as it is certain that nothing was committed since; it is frozen then. */
  readonly remembered?: boolean;
  /**
   * The look-up is made in the callback of the socket that a request arrived on. The other reads of the same turn of
   * the event loop may see the same state: none of them serves a request that arrived later.
   */
  readonly onArrival?: boolean;
}

type Values = Readonly<Record<string, string | number | null>>;

/**
 * A query that is built and compiled once per driver. `define` receives placeholders with the types of the values.
 * Only plain values may vary: a list or an optional condition needs a query built per use.
 * See {@link ReadHints} for the possible effects of `hints`; they never change the answer.
 *
 * @example
 * ```ts
 * const findVault = prepared((build, value: { id: string }) =>
 *   build.selectFrom("vaults").selectAll().where("id", "=", value.id));
 * const row = await queries.first(findVault(queries, { id }));
 * ```
 */
export function prepared<Given extends Values, Row>(
  define: (build: Kysely<Tables>, value: Given) => Compilable<Row>,
  hints: ReadHints = {},
): (queries: Queries, value: Given) => Compilable<Row> {
  const compiled = new WeakMap<Kysely<Tables>, CompiledQuery<Row>>();
  return (queries, value) => ({
    hints,
    compile() {
      let query = compiled.get(queries.build);
      if (query === undefined) {
        query = define(queries.build, placeholders<Given>()).compile();
        compiled.set(queries.build, query);
      }
      const parameters = query.parameters.map((slot) => (slot instanceof Placeholder ? value[slot.key] : slot));
      return { ...query, parameters };
    },
  });
}

const NO_HINTS: ReadHints = {};

/** What a query was prepared with; nothing for one that was built per use. */
export function hintsOf(query: Compilable<unknown> & { readonly hints?: ReadHints }): ReadHints {
  return query.hints ?? NO_HINTS;
}

/** Whether the text of a query is one of a fixed number, so that a driver may keep a statement for it. */
export function isPrepared(query: Compilable<unknown> & { readonly hints?: object }): boolean {
  return query.hints !== undefined;
}

/** A row of `act`, for a driver to lock in its dialect. */
export const accountToLock = prepared((build, value: { id: string }) =>
  build.selectFrom("accounts").selectAll().where("id", "=", value.id),
);

/** In which all who lock several accounts lock them: two acts in different orders would wait for each other for ever. */
export function lockOrder(accountIds: readonly string[]): string[] {
  return [...new Set(accountIds)].sort();
}

function placeholders<Given extends Values>(): Given {
  // The proxy answers every name with its placeholder; Kysely carries it through as an opaque parameter.
  return new Proxy({}, { get: (_, key) => new Placeholder(String(key)) }) as Given;
}

/**
 * The database port. Kysely builds and types the queries and never runs them; a driver runs what was compiled.
 * So the same queries serve SQLite and PostgreSQL, and a hot query is compiled once (see {@link prepared}).
 */
import { type Compilable, type CompiledQuery, type Kysely, type RawBuilder, sql } from "kysely";
import type { Tables } from "./tables.ts";

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

export interface TransactionOptions {
  /**
   * The work deletes more than it adds. When the medium is full, the driver opens the space it keeps in reserve, runs
   * `work` once more from its beginning and makes the reserve again later: a full disk must not prevent deleting.
   */
  readonly freesSpace?: boolean;
  /** False: the commit survives a killed process, and not the loss of power. For what binds running processes only. */
  readonly durable?: false;
}

/**
 * Failure contract. A violated unique or check constraint rejects with {@link ConstraintError}; a full disk with
 * {@link DatabaseFullError}; a database that cannot be reached or stays locked with {@link DatabaseUnavailableError};
 * everything else is a defect and rejects with the driver's own error. `transaction` resolves only once the commit is
 * durable (it survives kill -9 and power loss), rolls back when `work` rejects, and is serialised against other writers.
 * `work` must not wait for anything but its own queries, and uses the {@link Queries} it is given: a write through the database
 * itself would wait for this very transaction, so it rejects at once. Reads outside the transaction see committed state, and
 * are answered while a transaction of many statements is at work: between them a driver gives way. A statement itself may be as long as its
 * rows are many, so what goes over any number of rows is written in pieces (features/in-pieces.ts).
 */
export interface Database extends Queries, AsyncDisposable {
  readonly capabilities: DatabaseCapabilities;
  transaction<Result>(work: (transaction: Queries) => Promise<Result>, options?: TransactionOptions): Promise<Result>;
  /** Rejects when a trivial read fails, and for ever after a failed flush. */
  ping(): Promise<void>;
}

/** Milliseconds since the Unix epoch by the database's own clock, within a query: all who share it go by one clock. */
export function clockOf({ capabilities }: Pick<Database, "capabilities">): RawBuilder<number> {
  return capabilities.dialect === "sqlite"
    ? sql`cast(unixepoch('subsec') * 1000 as integer)`
    : sql`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`;
}

export class ConstraintError extends Error {
  override readonly name = "ConstraintError";
}

export class DatabaseFullError extends Error {
  override readonly name = "DatabaseFullError";
}

export class DatabaseUnavailableError extends Error {
  override readonly name = "DatabaseUnavailableError";
  /** Locked by another process: trying again later can succeed. */
  readonly busy: boolean;
  constructor(message: string, more: { cause?: unknown; busy?: boolean } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.busy = more.busy ?? false;
  }
}

/** Stands for a value that is filled in at each use of a prepared query. */
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
   * The look-up is made in the callback of the socket that a request arrived on. What it sees, the other reads of the
   * same turn of the event loop may see too: none of them serves a request that arrived later.
   */
  readonly onArrival?: boolean;
}

type Values = Readonly<Record<string, string | number | null>>;

/**
 * A query that is built and compiled once per driver. `define` receives placeholders with the types of the values.
 * Only plain values may vary: a list or an optional condition needs a query built per use.
 *
 * See {@link ReadHints} for what `hints` may change; never what is answered.
 *
 * @example
 * const findVault = prepared((build, value: { id: string }) =>
 *   build.selectFrom("vaults").selectAll().where("id", "=", value.id));
 * const row = await queries.first(findVault(queries, { id }));
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

function placeholders<Given extends Values>(): Given {
  // The proxy answers every name with its placeholder; Kysely carries it through as an opaque parameter.
  return new Proxy({}, { get: (_, key) => new Placeholder(String(key)) }) as Given;
}

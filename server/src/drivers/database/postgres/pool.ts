/** Connections to one PostgreSQL: how many, how long anybody waits for one, and what runs on them. */
import type { CompiledQuery } from "kysely";
import { Pool, type PoolClient, type QueryConfig, type QueryResult } from "pg";
import { DatabaseFullError, type DatabaseLoad } from "../../../ports/database.ts";
import type { OnStorageFault } from "../../../ports/storage-faults.ts";
import { isAnswer, isDamage, translated } from "./failures.ts";
import { TYPES } from "./values.ts";

export interface PoolOptions {
  /** `postgres://user:password@host:port/database?sslmode=verify-full`. It may hold a password: it is in no log. */
  readonly url: string;
  /** Most connections at a time. */
  readonly connections: number;
  /** How long somebody waits for a connection, a statement may take, and it waits for a lock. Milliseconds. */
  readonly connectTimeout: number;
  readonly statementTimeout: number;
  readonly lockTimeout: number;
  /**
   * False: a pooler in transaction mode is in between (pgbouncer). Each transaction has another session of the server then, so
   * nothing is set up or kept in one.
   */
  readonly sessions: boolean;
  readonly onFault?: OnStorageFault;
}

/** What a transaction that nobody ends holds, others wait for: longer than any of ours rests between two statements. */
const IDLE_IN_TRANSACTION = 60_000;
const IDLE = 30_000;
/** Look-ups in one trip: each of more would wait for more others. */
const TOGETHER = 8;

export class Connections {
  readonly #pool: Pool;
  readonly #statements: StatementNames | null;
  readonly #options: PoolOptions;
  /** They wait for a connection, and checkouts that will take them along. */
  readonly #lookUps: Asked[] = [];
  #trips = 0;
  #isGathering = false;
  #closed: Promise<void> | null = null;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#statements = options.sessions ? new StatementNames() : null;
    this.#pool = new Pool({
      connectionString: options.url,
      max: options.connections,
      connectionTimeoutMillis: options.connectTimeout,
      idleTimeoutMillis: IDLE,
      application_name: "coffer",
      keepAlive: true,
      types: TYPES,
      pipeline: options.sessions,
      // A server that answers nothing at all is noticed here, since it says nothing of its own time-out.
      query_timeout: 0,
      ...(options.sessions
        ? {
            statement_timeout: options.statementTimeout,
            lock_timeout: options.lockTimeout,
            idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION,
          }
        : {}),
    });
    // Without listeners the end of a connection would end the process: of one that rests, and of one that is used.
    this.#pool.on("error", () => undefined);
    this.#pool.on("connect", (client) => client.on("error", () => undefined));
  }

  get load(): DatabaseLoad {
    return { open: this.#pool.totalCount, idle: this.#pool.idleCount, waiting: this.#pool.waitingCount };
  }

  /** @throws DatabaseUnavailableError when none can be had in time. */
  async acquire(): Promise<Connection> {
    try {
      return new Connection(await this.#pool.connect(), this.#statements, this.#options);
    } catch (error) {
      throw translated(error);
    }
  }

  /**
   * One statement by itself. Most of what a service asks is such a read, so there is one promise for all of it.
   * @throws Broken when the connection ended meanwhile.
   */
  single<Row>(query: CompiledQuery<Row>, { isPrepared, isLookUp }: SingleOptions): Promise<Answered<Row>> {
    const config: QueryConfig = { text: query.sql, values: query.parameters as unknown[] };
    if (isPrepared && this.#statements !== null) config.name = this.#statements.of(query.sql);
    return new Promise((resolve, reject) => {
      const asked: Asked = {
        config,
        resolve: ({ rows, rowCount }) => resolve({ rows: rows as Row[], changed: rowCount ?? 0 }),
        reject,
      };
      if (isLookUp && config.name !== undefined) this.#gather(asked);
      else this.#carry(() => [asked]);
    });
  }

  /** The look-ups that wait when a turn of the event loop ends share connections, writes and answers. */
  #gather(asked: Asked): void {
    this.#lookUps.push(asked);
    if (this.#isGathering) return;
    this.#isGathering = true;
    setImmediate(() => {
      this.#isGathering = false;
      while (this.#trips * TOGETHER < this.#lookUps.length) {
        this.#trips += 1;
        this.#carry(() => {
          this.#trips -= 1;
          return this.#lookUps.splice(0, TOGETHER);
        });
      }
    });
  }

  /** What `take` returns once there is a connection goes in one write. An error ends its own statement alone. */
  #carry(take: () => readonly Asked[]): void {
    this.#pool.connect((failure, client, release) => {
      const together = take();
      if (failure !== undefined || client === undefined) {
        for (const { reject } of together) reject(translated(failure));
        return;
      }
      let open = together.length;
      if (open === 0) return release();
      let isBroken = false;
      for (const { config, resolve, reject } of together)
        client.query(config, (error: Error | null, result: QueryResult) => {
          const hasEnded = error !== null && error !== undefined && !isAnswer(error);
          isBroken ||= hasEnded;
          open -= 1;
          if (open === 0) release(isBroken);
          if (hasEnded) reject(new Broken(translated(error)));
          else if (error) reject(failureOf(error, config.text, this.#options));
          else resolve(result);
        });
    });
  }

  /** A second call waits for the same end. */
  close(): Promise<void> {
    return (this.#closed ??= this.#pool.end());
  }
}

export interface SingleOptions {
  readonly isPrepared: boolean;
  /** A read of one row, which takes no longer than those that share its trip. */
  readonly isLookUp: boolean;
}

interface Asked {
  readonly config: QueryConfig;
  readonly resolve: (result: QueryResult) => void;
  readonly reject: (error: Error) => void;
}

export interface Answered<Row> {
  readonly rows: Row[];
  readonly changed: number;
}

/** The connection ended while the statement was under way. */
export class Broken extends Error {
  readonly by: unknown;
  constructor(by: unknown) {
    super("broken");
    this.by = by;
  }
}

export class Connection implements Disposable {
  readonly #client: PoolClient;
  readonly #statements: StatementNames | null;
  readonly #options: PoolOptions;
  #isBroken = false;

  constructor(client: PoolClient, statements: StatementNames | null, options: PoolOptions) {
    this.#client = client;
    this.#statements = statements;
    this.#options = options;
  }

  /** The connection has ended, or is in an unknown state: nothing runs on it again. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  async query<Row>(query: CompiledQuery<Row>, isPrepared: boolean): Promise<Answered<Row>> {
    const config: QueryConfig = { text: query.sql, values: query.parameters as unknown[] };
    if (isPrepared && this.#statements !== null) config.name = this.#statements.of(query.sql);
    const { rows, rowCount } = await this.#send(config);
    return { rows: rows as Row[], changed: rowCount ?? 0 };
  }

  /**
   * Several statements in one trip. Where sessions are not ours, each transaction says its limits itself. Returns the first row of the last of `queries`.
   */
  async begin<Row extends object>(
    mode: "" | "ISOLATION LEVEL REPEATABLE READ READ ONLY",
    settings: readonly string[],
    queries: readonly string[],
  ): Promise<Row | null> {
    const { sessions, statementTimeout, lockTimeout } = this.#options;
    const limits = sessions ? [] : [`statement_timeout = ${statementTimeout}`, `lock_timeout = ${lockTimeout}`];
    const set = [...limits, ...settings].map((setting) => `; SET LOCAL ${setting}`);
    // The first read fixes what a snapshot sees.
    const reads = (mode === "" ? queries : ["SELECT 1"]).map((query) => `; ${query}`);
    const row = await this.firstRow<Row>(`BEGIN ${mode}${set.join("")}${reads.join("")}`);
    return queries.length === 0 ? null : row;
  }

  /** The first row of the last of the statements. */
  async firstRow<Row extends object>(text: string): Promise<Row | null> {
    // Several statements have an array of results, which pg's types leave out.
    const result = (await this.#send({ text })) as QueryResult<Row> | QueryResult<Row>[];
    const last = Array.isArray(result) ? result.at(-1) : result;
    return last?.rows[0] ?? null;
  }

  async run(text: string): Promise<string> {
    return (await this.#send({ text })).command;
  }

  async #send(config: QueryConfig) {
    try {
      return await this.#client.query<object>(config);
    } catch (error) {
      if (!isAnswer(error)) this.#isBroken = true;
      throw failureOf(error, config.text, this.#options);
    }
  }

  [Symbol.dispose](): void {
    this.#client.release(this.#isBroken);
  }
}

/** The error in the port's words; damage and a full disk are reported. */
function failureOf(error: unknown, query: string, { url, onFault }: PoolOptions): Error {
  if (isDamage(error)) {
    // Its own server looks it through (amcheck, pg_checksums): from here it would be a scan of everything.
    onFault?.({ kind: "damaged", file: new URL(url).pathname.slice(1), query, cause: error, examine: null });
  }
  const failure = translated(error);
  if (failure instanceof DatabaseFullError) onFault?.({ kind: "full", cause: error });
  return failure;
}

/** One name for each text, the same on every connection, for as long as the process runs. */
class StatementNames {
  readonly #names = new Map<string, string>();

  of(text: string): string {
    let name = this.#names.get(text);
    if (name === undefined) {
      name = `s${this.#names.size}`;
      this.#names.set(text, name);
    }
    return name;
  }
}

/** Connections to receivers, kept open for a while between requests. */
import { Client, type Dispatcher } from "undici";
import { type ConnectRules, openConnection } from "./connect.ts";
import { SendFailure } from "./failures.ts";
import type { Target } from "./target.ts";

/** Idle connections. Busy ones are as many as the sender's callers have requests under way. */
const MAX_IDLE = 256;
/** Milliseconds; receivers commonly close after 5 s, and say so when it is longer (`Keep-Alive`). */
const KEEP_ALIVE = { keepAliveTimeout: 4_000, keepAliveMaxTimeout: 30_000, keepAliveTimeoutThreshold: 1_000 };
/** So that a receiver that moved is found again, however busy the connection is. */
const REQUESTS_PER_CONNECTION = 1_000;

/** At most one socket at a time, HTTP/1.1, one request at a time. */
export class Connection {
  readonly origin: string;
  readonly #client: Client;
  readonly #stopped = new AbortController();
  #answered = 0;

  constructor(target: Target, rules: ConnectRules, onClosed: (connection: Connection) => void) {
    this.origin = target.origin;
    this.#client = new Client(target.origin, {
      ...KEEP_ALIVE,
      maxRequestsPerClient: REQUESTS_PER_CONNECTION,
      pipelining: 1,
      allowH2: false,
      // One timer of the sender's covers the whole request; these are too coarse.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (_options, callback) => {
        openConnection(target, rules, this.#stopped.signal).then(
          (socket) => callback(null, socket),
          (error: unknown) => callback(error instanceof Error ? error : new SendFailure("connection reset"), null),
        );
      },
    });
    this.#client.on("connect", () => {
      this.#answered = 0;
    });
    this.#client.on("disconnect", () => onClosed(this));
  }

  /** The socket has brought a whole answer before. */
  get hasAnswered(): boolean {
    return this.#answered > 0;
  }

  dispatch(options: Omit<Dispatcher.DispatchOptions, "origin">, handler: Dispatcher.DispatchHandler): void {
    this.#client.dispatch(options, handler);
  }

  countAnswer(): void {
    this.#answered += 1;
  }

  /** Closes the socket at once, also one that is only opening. */
  destroy(): void {
    this.#stopped.abort();
    void this.#client.destroy();
  }
}

/** Idle connections by origin. The taker has a connection alone until it is given back or destroyed. */
export class Connections implements Disposable {
  readonly #rules: ConnectRules;
  /** The newest of one origin is last, and taken first: it is the least likely to be closed at the other end. */
  readonly #idle = new Map<string, Connection[]>();
  /** All of them, the longest idle first. */
  readonly #all = new Set<Connection>();

  constructor(rules: ConnectRules) {
    this.#rules = rules;
  }

  /** `fresh`: one that has never been used. */
  acquire(target: Target, { fresh }: { readonly fresh: boolean }): Connection {
    const kept = fresh ? undefined : this.#idle.get(target.origin)?.at(-1);
    if (kept === undefined) return new Connection(target, this.#rules, (connection) => this.#retire(connection));
    this.#forget(kept);
    return kept;
  }

  /** After a whole answer. */
  release(connection: Connection): void {
    connection.countAnswer();
    const others = this.#idle.get(connection.origin);
    if (others === undefined) this.#idle.set(connection.origin, [connection]);
    else others.push(connection);
    this.#all.add(connection);
    const [oldest] = this.#all;
    if (this.#all.size > MAX_IDLE && oldest !== undefined) this.#retire(oldest);
  }

  [Symbol.dispose](): void {
    for (const connection of [...this.#all]) this.#retire(connection);
  }

  /** An idle connection that ended, or has to; one that is in use is its user's. */
  #retire(connection: Connection): void {
    if (!this.#all.has(connection)) return;
    this.#forget(connection);
    connection.destroy();
  }

  #forget(connection: Connection): void {
    this.#all.delete(connection);
    const others = this.#idle.get(connection.origin) ?? [];
    const index = others.lastIndexOf(connection);
    if (index !== -1) others.splice(index, 1);
    if (others.length === 0) this.#idle.delete(connection.origin);
  }
}

/**
 * News by LISTEN and NOTIFY, on one connection of its own. A notification within an act would take a lock of the whole database at its commit:
 * measured, 2,100 commits a second instead of 9,500. So what changed is told afterwards, everything of 50 ms together. Nobody
 * waits for it.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, type Notification } from "pg";
import type { News } from "../../../ports/news.ts";

const CHANNEL = "coffer_changes";
/** Between two notifications, and between two attempts to connect. Milliseconds. */
const GATHER = 50;
const RETRY = 500;
/** A payload has fewer than 8,000 bytes (postgresql.org/docs/current/sql-notify.html). More accounts are told as all. */
const MOST_ACCOUNTS = 180;
const ALL = "*";

type Listener = Parameters<News["onChange"]>[0];

export class Bulletin implements News, AsyncDisposable {
  readonly #url: string;
  /** Notifications of this process come back to it. */
  readonly #self = randomUUID();
  readonly #listeners = new Set<Listener>();
  readonly #stopping = new AbortController();
  #untold = new Set<string>();
  #telling: NodeJS.Timeout | null = null;
  #client: Client | null = null;
  #running: Promise<void> | null = null;

  constructor(url: string) {
    this.#url = url;
  }

  get isLive(): boolean {
    return this.#client !== null;
  }

  /** The first listener makes it connect: an operator's command never does. */
  onChange(listener: Listener): () => void {
    this.#listeners.add(listener);
    this.#running ??= this.#run();
    return () => void this.#listeners.delete(listener);
  }

  /** These accounts have changed here. */
  notify(accountIds: readonly string[]): void {
    if (accountIds.length === 0 || this.#running === null) return;
    const ids = new Set(accountIds);
    for (const listener of this.#listeners) listener(ids);
    for (const id of ids) this.#untold.add(id);
    this.#telling ??= setTimeout(() => void this.#notify(), GATHER).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    if (this.#telling !== null) clearTimeout(this.#telling);
    await this.#client?.end().catch(() => undefined);
    await this.#running;
  }

  async #notify(): Promise<void> {
    this.#telling = null;
    const ids = [...this.#untold];
    this.#untold = new Set();
    const told = ids.length > MOST_ACCOUNTS ? ALL : ids.join(",");
    // A process that misses it finds the change with its next poll.
    await this.#client?.query("SELECT pg_notify($1, $2)", [CHANNEL, `${this.#self} ${told}`]).catch(() => undefined);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#listen().catch(() => undefined);
      this.#client = null;
      if (!signal.aborted) await sleep(RETRY, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Until the connection ends. */
  async #listen(): Promise<void> {
    const client = new Client({ connectionString: this.#url, application_name: "coffer news", keepAlive: true });
    const over = Promise.withResolvers<undefined>();
    client.on("error", () => over.resolve(undefined));
    client.on("end", () => over.resolve(undefined));
    client.on("notification", (notification) => this.#receive(notification));
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      if (this.#stopping.signal.aborted) return;
      this.#client = client;
      // What was told before is missed.
      for (const listener of this.#listeners) listener(null);
      await over.promise;
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  #receive({ payload = "" }: Notification): void {
    const [sender, told = ""] = payload.split(" ");
    if (sender === this.#self) return;
    const ids = told === ALL ? null : new Set(told.split(","));
    for (const listener of this.#listeners) listener(ids);
  }
}

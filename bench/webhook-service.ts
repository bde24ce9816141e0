/** What the webhook benchmarks stand on: a server process, a receiver process, accounts with endpoints. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { startServerProcess, type ServerProcess } from "../test/kill/server-process.ts";
import { stopChild } from "./machine.ts";
import { RATE } from "./service.ts";
import type { Arrivals } from "./webhook-sink.ts";

const SINK = new URL("webhook-sink.ts", import.meta.url);
const DRAIN_MS = 120_000;

/** Development, because receivers on loopback are refused otherwise; limits count as always, and are never reached. */
const ENVIRONMENT = {
  ...{ SERVICE_RATE_GENERAL: String(RATE), SERVICE_RATE_GENERAL_BURST: String(RATE) },
  ...{ SERVICE_WEBHOOK_ENDPOINT_RATE: "1000000", SERVICE_MAX_WEBHOOKS: "100", SERVICE_RATE_SIGNUP: "1000" },
};

export interface Owner {
  readonly key: string;
  readonly vaultId: string;
}

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  /** "take" and "read" begin anew; "read" keeps what arrives from then on, "take" answers it. */
  ask(wish: "count" | "take" | "read"): Promise<Arrivals>;
}

export interface Where {
  /** Of PostgreSQL; null: SQLite. */
  readonly databaseUrl: string | null;
  readonly processes: number;
}

export class WebhookService implements AsyncDisposable {
  /** Asked by those who write; others deliver as well. */
  readonly server: ServerProcess;
  readonly servers: readonly ServerProcess[];
  readonly #openDeliveries: CountOpen;
  #folders = 0;

  private constructor(server: ServerProcess, others: readonly ServerProcess[], openDeliveries: CountOpen) {
    this.server = server;
    this.servers = [server, ...others];
    this.#openDeliveries = openDeliveries;
  }

  static async start(
    directory: string,
    { databaseUrl, processes }: Where = { databaseUrl: null, processes: 1 },
  ): Promise<WebhookService> {
    const environment = { ...ENVIRONMENT, ...(databaseUrl === null ? {} : { SERVICE_DATABASE_URL: databaseUrl }) };
    const server = await startServerProcess({ directory, environment });
    await server.waitForLine((line) => line.event === "job" && line.job === "start-up");
    const others: ServerProcess[] = [];
    while (others.length + 1 < processes) others.push(await startServerProcess({ directory, environment }));
    const count = databaseUrl === null ? countInSqlite(join(directory, "coffer.sqlite")) : countInPostgres(databaseUrl);
    return new WebhookService(server, others, count);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.servers) await server[Symbol.asyncDispose]();
  }

  async signUp(): Promise<Owner> {
    const email = `bench-${crypto.randomUUID()}@example.com`;
    const { apiKey } = await this.#call<{ apiKey: string }>("POST", "/api/auth/dev-signup", null, { email });
    const { vaults } = await this.#call<{ vaults: { id: string }[] }>("GET", "/api/vaults", apiKey);
    return { key: apiKey, vaultId: vaults[0]?.id ?? "" };
  }

  async endpoint({ key }: Owner, url: string): Promise<string> {
    const wanted = { url, events: ["folder.created"] };
    const { webhook } = await this.#call<{ webhook: { id: string } }>("POST", "/api/webhooks", key, wanted);
    return webhook.id;
  }

  async setActive({ key }: Owner, webhookIds: readonly string[], active: boolean): Promise<void> {
    for (const id of webhookIds) await this.#call("PATCH", `/api/webhooks/${id}`, key, { active });
  }

  /** A write that is an event; answers its object's id. */
  async write({ key, vaultId }: Owner): Promise<string> {
    this.#folders += 1;
    const wanted = { vaultId, name: `folder ${String(this.#folders)}` };
    const { folder } = await this.#call<{ folder: { id: string } }>("POST", "/api/folders", key, wanted);
    return folder.id;
  }

  /** Resolves when every change has become deliveries, and none of an active endpoint is on its way. */
  async drained(): Promise<void> {
    const until = performance.now() + DRAIN_MS;
    await using open = await this.#openDeliveries();
    while (performance.now() < until) {
      if ((await open.count()) === 0) return;
      await pause(250);
    }
    throw new Error("the deliveries took too long");
  }

  async #call<Body>(method: string, path: string, key: string | null, json?: unknown): Promise<Body> {
    const headers = {
      "content-type": "application/json",
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    };
    const body = json === undefined ? null : JSON.stringify(json);
    const answer = await fetch(this.server.baseUrl + path, { method, headers, body });
    if (!answer.ok) throw new Error(`${method} ${path} answered ${String(answer.status)}: ${await answer.text()}`);
    return (await answer.json()) as Body;
  }
}

type CountOpen = () => Promise<AsyncDisposable & { count(): Promise<number> }>;

// Each status by itself: so it is read off its index, and asking takes little from what is measured.
const openOf = (status: string): string =>
  `(select count(*) from webhooks join webhook_deliveries on webhook_id = webhooks.id and status = '${status}'
     where active = 1 and url not like '%/dead%')`;
const OPEN = `select (select count(*) from webhook_cursors join accounts on accounts.id = account_id
                where accounts.sequence > webhook_cursors.sequence)
              + ${openOf("pending")} + ${openOf("delivering")} as count`;

function countInSqlite(path: string): CountOpen {
  return () => {
    const database = new DatabaseSync(path, { readOnly: true });
    const open = database.prepare(OPEN);
    return Promise.resolve({
      count: () => Promise.resolve((open.get() as { count: number }).count),
      [Symbol.asyncDispose]: () => Promise.resolve(database.close()),
    });
  };
}

function countInPostgres(connectionString: string): CountOpen {
  return async () => {
    const client = new Client({ connectionString });
    await client.connect();
    return {
      count: async () => Number((await client.query<{ count: string }>(OPEN)).rows[0]?.count),
      [Symbol.asyncDispose]: () => client.end(),
    };
  };
}

export async function startReceiver(): Promise<Receiver> {
  const child = fork(SINK, { execArgv: ["--conditions=coffer-source"] });
  const [port] = (await once(child, "message")) as [number];
  return {
    url: `http://127.0.0.1:${String(port)}`,
    pid: child.pid ?? 0,
    ask: async (wish) => {
      const answer = once(child, "message");
      child.send(wish);
      return (await answer)[0] as Arrivals;
    },
    [Symbol.asyncDispose]: () => stopChild(child),
  };
}

/** Several that are asked as one: each endpoint has its receiver, as endpoints of the world do. */
export interface Receivers extends Pick<Receiver, "ask">, AsyncDisposable {
  readonly all: readonly Receiver[];
}

export async function startReceivers(count: number): Promise<Receivers> {
  const all: Receiver[] = [];
  while (all.length < count) all.push(await startReceiver());
  return {
    all,
    ask: async (wish) => {
      const each = await Promise.all(all.map((receiver) => receiver.ask(wish)));
      const some = each.filter((arrivals) => arrivals.count > 0);
      return {
        count: some.reduce((sum, arrivals) => sum + arrivals.count, 0),
        first: some.length === 0 ? 0 : Math.min(...some.map(({ first }) => first)),
        last: Math.max(0, ...some.map(({ last }) => last)),
        events: each.flatMap(({ events }) => events),
      };
    },
    [Symbol.asyncDispose]: async () => {
      for (const receiver of all) await receiver[Symbol.asyncDispose]();
    },
  };
}

/** A bare loop of signed POSTs; see webhook-posts.ts. */
export interface Poster extends AsyncDisposable {
  post(count: number): Promise<{ readonly seconds: number; readonly processorSeconds: number }>;
}

export async function startPoster(target: string, connections: number): Promise<Poster> {
  const program = new URL("webhook-posts.ts", import.meta.url);
  const child: ChildProcess = fork(program, [target, String(connections)], {
    execArgv: ["--conditions=coffer-source"],
  });
  await once(child, "message");
  return {
    post: async (count) => {
      const answer = once(child, "message");
      child.send(count);
      return (await answer)[0] as { seconds: number; processorSeconds: number };
    },
    [Symbol.asyncDispose]: () => stopChild(child),
  };
}

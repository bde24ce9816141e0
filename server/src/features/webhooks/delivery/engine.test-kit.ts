/** TEST ONLY: an engine over an app of its own, with a clock that does not move and receivers with set answers. */
import type { Environment } from "../../../config.ts";
import type { WebhookAttemptRow, WebhookDeliveryRow, WebhookRow } from "../../../ports/tables.ts";
import type { OutgoingWebhook, WebhookFailure, WebhookOutcome, WebhookSender } from "../../../ports/webhook-sender.ts";
import { openTestApp, type TestApp } from "../../../app.test-kit.ts";
import { ON_POSTGRES } from "../../../storage.test-kit.ts";
import { listAttempts, listDeliveries } from "../deliveries-store.ts";
import { Engine, type EngineDeps } from "./engine.ts";
import { findEndpoints } from "./queue-store.ts";

export type Answer = Partial<WebhookOutcome>;

export interface TestEngine extends AsyncDisposable {
  readonly app: TestApp;
  readonly deps: EngineDeps;
  readonly engine: Engine;
  readonly key: string;
  readonly accountId: string;
  /** Everything that was sent, in order; the promise of an answer may still be open. */
  readonly sent: OutgoingWebhook[];
  /** How receivers answer from now on. */
  answer(by: (webhook: OutgoingWebhook) => Answer | Promise<Answer>): void;
  /** Registers an endpoint and answers its id. */
  endpoint(path?: string, events?: readonly string[]): Promise<string>;
  /** Makes a folder, and so a `folder.created` event. */
  change(): Promise<void>;
  /** Polls, sends and records until nothing more is to be done at this moment. */
  run(engine?: Engine): Promise<void>;
  /** One of another process, which may have another clock. */
  another(deps?: Partial<EngineDeps>): Engine;
  /** As if so many milliseconds had passed since attempts were claimed, by the clock of the database. */
  ageClaims(by: number): Promise<void>;
  deliveries(webhookId: string): Promise<WebhookDeliveryRow[]>;
  /** The number of the newest change. */
  delivery(webhookId: string): Promise<WebhookDeliveryRow>;
  attempts(deliveryId: string): Promise<WebhookAttemptRow[]>;
  webhook(id: string): Promise<WebhookRow>;
}

export const ok: Answer = { httpStatus: 200 };

export function failing(failure: WebhookFailure): Answer {
  const status = /^HTTP (\d+)$/.exec(failure)?.[1];
  return { failure, httpStatus: Number(status ?? 0) };
}

export interface TestEngineOptions {
  readonly environment?: Environment;
  /** Instead of the obedient one. */
  readonly sender?: WebhookSender;
}

/** PostgreSQL keeps the pace by its own clock, which goes on as it always does while the clock of a test leaps. */
const PACE = ON_POSTGRES ? { SERVICE_WEBHOOK_ENDPOINT_RATE: "1000000" } : {};

export async function openTestEngine(options: TestEngineOptions = {}): Promise<TestEngine> {
  const receivers = new Receivers();
  const app = await openTestApp({
    environment: { ...PACE, ...options.environment },
    replace: () => ({ webhookSender: options.sender ?? receivers }),
  });
  const deps: EngineDeps = { ...app.deps, log: { info: () => undefined, error: ({ err }) => fail(err) } };
  const { id: accountId, key } = await app.signUp();
  const engine = new Engine(deps);
  return {
    app,
    deps,
    engine,
    key,
    accountId,
    sent: receivers.sent,
    answer: (by) => void (receivers.answer = by),
    run: (which = engine) => runUntilIdle(which),
    another: (more = {}) => new Engine({ ...deps, ...more }),
    ageClaims: (by) => ageClaims(app, by),
    ...owner(app, key),
    ...rows(app),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

class Receivers implements WebhookSender {
  readonly sent: OutgoingWebhook[] = [];
  answer: (webhook: OutgoingWebhook) => Answer | Promise<Answer> = () => ok;

  refusal(): null {
    return null;
  }

  async send(webhook: OutgoingWebhook): Promise<WebhookOutcome> {
    this.sent.push(webhook);
    const answer = await this.answer(webhook);
    return { httpStatus: 0, failure: null, retryAfter: null, responseBody: "", duration: 1, ...answer };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}

function owner(app: TestApp, key: string): Pick<TestEngine, "endpoint" | "change"> {
  let folders = 0;
  return {
    async endpoint(path = "/hook", events = ["*"]) {
      const url = path.startsWith("/") ? `http://127.0.0.1:9${path}` : path;
      const made = await app.ask("POST", "/api/webhooks", { key, json: { url, events } });
      if (made.status !== 201) throw new Error(`registering answered ${made.text}`);
      return (made.body["webhook"] as { id: string }).id;
    },
    async change() {
      const vaults = await app.ask("GET", "/api/vaults", { key });
      const vaultId = (vaults.body["vaults"] as { id: string }[])[0]?.id ?? "";
      folders += 1;
      const made = await app.ask("POST", "/api/folders", { key, json: { vaultId, name: `folder ${folders}` } });
      if (made.status !== 201) throw new Error(`making a folder answered ${made.text}`);
    },
  };
}

function rows({ deps: { database } }: TestApp): Pick<TestEngine, "deliveries" | "delivery" | "attempts" | "webhook"> {
  const page = { list: "", limit: 1000, after: null };
  const deliveries = (webhookId: string) => listDeliveries(database, { webhookId, status: null }, page);
  return {
    deliveries,
    async delivery(webhookId) {
      const [newest] = (await deliveries(webhookId)).sort((a, b) => b.sequence - a.sequence);
      if (newest === undefined) throw new Error("there is no delivery");
      return newest;
    },
    attempts: (deliveryId) => listAttempts(database, deliveryId),
    async webhook(id) {
      const row = (await findEndpoints(database, [id])).get(id) ?? null;
      if (row === null) throw new Error("there is no such endpoint");
      return row;
    },
  };
}

async function ageClaims({ deps: { database } }: TestApp, by: number): Promise<void> {
  await database.run(
    database.build.updateTable("webhook_deliveries").set((row) => ({ lease_until: row("lease_until", "-", by) })),
  );
}

async function runUntilIdle(engine: Engine): Promise<void> {
  for (;;) {
    const more = await engine.poll();
    await engine.flush();
    if (engine.inFlight === 0 && !more) return;
    await engine.settled();
    await engine.flush();
  }
}

function fail(error: unknown): never {
  throw error;
}

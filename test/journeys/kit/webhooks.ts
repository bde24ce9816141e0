/** The steps that tests of webhooks begin with, over plain HTTP. */
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { fieldsOf, objectAt, objectsAt } from "./account.ts";
import { runSql } from "./data-directory.ts";
import { send, type Answer } from "./http.ts";
import { textOf } from "./stack.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface NewWebhook {
  readonly id: string;
  readonly secret: string;
  readonly webhook: Fields;
}

/** An owner's view of the webhooks of its account. */
export interface Webhooks {
  ask(method: string, path?: string, body?: object): Promise<Answer>;
  create(url: string, events?: readonly string[], more?: object): Promise<NewWebhook>;
  get(id: string): Promise<Fields>;
  /** The record of a test delivery. */
  test(id: string): Promise<Fields>;
  /** Newest first. `query` without its question mark. */
  deliveries(id: string, query?: string): Promise<readonly Fields[]>;
  delivery(
    id: string,
    deliveryId: string,
  ): Promise<{ readonly delivery: Fields; readonly attempts: readonly Fields[] }>;
  /** The newest delivery of that event, as soon as it is as wanted; rejects after twenty seconds. */
  waitForDelivery(id: string, event: string, wanted: (delivery: Fields) => boolean): Promise<Fields>;
}

/** Many times what a delivery takes on an idle machine. Milliseconds. */
const LIMIT = 60_000;
const LOOK_AGAIN = 20;

export function openWebhooks(baseUrl: string, key: string): Webhooks {
  const ask: Webhooks["ask"] = (method, path = "", body) =>
    send(baseUrl, `/api/webhooks${path}`, { method, key, ...(body === undefined ? {} : { body }) });
  const read = async (answer: Promise<Answer>, status: number): Promise<Fields> => {
    const { bytes, ...got } = await answer;
    assert.equal(got.status, status, new TextDecoder().decode(bytes));
    return fieldsOf({ bytes, ...got });
  };
  const deliveries: Webhooks["deliveries"] = async (id, query = "limit=1000") =>
    objectsAt(await read(ask("GET", `/${id}/deliveries?${query}`), 200), "deliveries");
  return {
    ask,
    deliveries,
    async create(url, events = ["*"], more = {}) {
      const fields = await read(ask("POST", "/", { url, events, ...more }), 201);
      const webhook = objectAt(fields, "webhook");
      return { id: textOf(webhook, "id"), secret: textOf(fields, "secret"), webhook };
    },
    get: async (id) => objectAt(await read(ask("GET", `/${id}`), 200), "webhook"),
    test: async (id) => objectAt(await read(ask("POST", `/${id}/test`), 200), "delivery"),
    async delivery(id, deliveryId) {
      const fields = await read(ask("GET", `/${id}/deliveries/${deliveryId}`), 200);
      return { delivery: objectAt(fields, "delivery"), attempts: objectsAt(fields, "attempts") };
    },
    waitForDelivery: (id, event, wanted) =>
      eventually(async () => (await deliveries(id)).find((one) => one["event"] === event), wanted),
  };
}

/** Reads until what is there is as wanted; rejects with the last that was read after twenty seconds. */
export async function eventually<Value>(
  read: () => Promise<Value | undefined>,
  wanted: (value: Value) => boolean,
): Promise<Value> {
  const deadline = AbortSignal.timeout(LIMIT);
  for (;;) {
    const value = await read();
    if (value !== undefined && wanted(value)) return value;
    if (deadline.aborted) throw new Error(`it did not come to be: ${JSON.stringify(value)}`);
    await pause(LOOK_AGAIN);
  }
}

/** The time of the next attempt comes: the clock of a running server cannot be moved, so the delivery's row is. */
async function hurry(dataDirectory: string, deliveryId: string): Promise<void> {
  const now = "UPDATE webhook_deliveries SET next_attempt_at = ? WHERE id = ? AND status = 'pending'";
  await runSql(dataDirectory, now, Date.now() - 1, deliveryId);
}

/** Hurries every further attempt until the delivery has ended; answers how it did. */
export async function hurryToEnd(webhooks: Webhooks, dataDirectory: string, id: string, deliveryId: string) {
  const read = async () => (await webhooks.delivery(id, deliveryId)).delivery;
  for (let attempts = 1; ; attempts += 1) {
    const tried = (one: Fields): boolean => Number(one["attempts"]) >= attempts && one["status"] !== "delivering";
    const delivery = await eventually(read, tried);
    if (delivery["completedAt"] !== null) return delivery;
    await hurry(dataDirectory, deliveryId);
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** All fields of specification §2.2, of a test delivery that ended so. */
export function assertTestRecord(delivery: Fields, status: "success" | "failed", httpStatus: number): void {
  assert.match(textOf(delivery, "id"), UUID);
  assert.deepEqual([delivery["event"], delivery["status"]], ["webhook.test", status]);
  assert.deepEqual([delivery["httpStatus"], delivery["attempts"]], [httpStatus, 1]);
  assert.ok(Number(delivery["maxAttempts"]) >= 1);
  assert.equal(textOf(delivery, "lastError") === "", status === "success");
  for (const name of ["lastAttemptAt", "completedAt", "createdAt"]) assert.match(textOf(delivery, name), TIMESTAMP);
}

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { WebhookOutcome, WebhookSender } from "../../ports/webhook-sender.ts";
import { openTestApp, type TestAnswer, type TestApp } from "../../app.test-kit.ts";
import { signMessage } from "./signing.ts";

const OK: WebhookOutcome = { httpStatus: 200, failure: null, retryAfter: null, responseBody: "fine", duration: 12.4 };
const DOWN: WebhookOutcome = {
  httpStatus: 0,
  failure: "connection refused",
  retryAfter: null,
  responseBody: "",
  duration: 1,
};
const DAY = 24 * 3_600_000;

interface Sent {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Answers as it is told, and notes what it was asked to send. */
class ScriptedSender implements WebhookSender {
  readonly sent: Sent[] = [];
  outcome: WebhookOutcome = OK;
  refusal(url: string): ReturnType<WebhookSender["refusal"]> {
    return URL.canParse(url) ? (url.startsWith("http://10.") ? "blocked address" : null) : "invalid url";
  }
  send(webhook: Sent): Promise<WebhookOutcome> {
    this.sent.push(webhook);
    return Promise.resolve(this.outcome);
  }
  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}

let sender: ScriptedSender;
let test: TestApp;
let key: string;

beforeEach(async () => {
  sender = new ScriptedSender();
  test = await openTestApp({ replace: () => ({ webhookSender: sender }) });
  ({ key } = await test.signUp());
});
afterEach(() => test[Symbol.asyncDispose]());

function lastSent(): Sent {
  const sent = sender.sent.at(-1);
  if (sent === undefined) throw new Error("nothing was sent");
  return sent;
}

type Json = Record<string, unknown>;

const ask = (method: "GET" | "POST" | "PATCH" | "DELETE", path: string, json?: unknown): Promise<TestAnswer> =>
  test.ask(method, path, json === undefined ? { key } : { key, json });

function objectIn({ body, status }: TestAnswer, name: string): Json {
  expect(status).toBeLessThan(300);
  return body[name] as Json;
}

async function create(json: Json = {}): Promise<{ id: string; secret: string }> {
  const answer = await ask("POST", "/api/webhooks", { url: "https://example.test/hook", events: ["*"], ...json });
  return { id: String(objectIn(answer, "webhook")["id"]), secret: String(answer.body["secret"]) };
}

describe("an endpoint", () => {
  it("is made with its secret shown once, read back without it, changed and deleted [D6-update-delete D6-description D0-required-without-value D1-trailing-slash S3-webhook-active S4.1-list S4.1-get]", async () => {
    const made = await ask("POST", "/api/webhooks/", { url: "https://example.test/a", events: ["file.uploaded"] });
    expect(made.status).toBe(201);
    const webhook = objectIn(made, "webhook");
    expect(webhook).toMatchObject({ active: true, description: "", failureCount: 0, lastDeliveryStatus: "none" });
    const secret = String(made.body["secret"]);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const path = `/api/webhooks/${String(webhook["id"])}`;
    for (const answer of [await ask("GET", path), await ask("GET", "/api/webhooks")]) {
      expect(answer.status).toBe(200);
      expect(answer.text).not.toContain("whsec_");
    }
    test.clock.advance(5);
    const changes = { events: ["*", "*"], description: "ours", active: false };
    const changed = objectIn(await ask("PATCH", path, changes), "webhook");
    const updatedAt = new Date(test.clock.now()).toISOString();
    expect(changed).toEqual({ ...webhook, ...changes, events: ["*"], updatedAt });
    expect(objectIn(await ask("GET", path), "webhook")).toEqual(changed);
    expect((await ask("DELETE", path)).status).toBe(204);
    expect((await ask("GET", path)).status).toBe(404);
    expect((await ask("DELETE", path)).status).toBe(404);
  });

  it("is kept with its secrets encrypted", async () => {
    const { id, secret } = await create();
    const { database, atRest } = test.deps;
    const row = await database.first(database.build.selectFrom("webhooks").selectAll().where("id", "=", id));
    expect(row?.secret).not.toContain(secret.slice("whsec_".length));
    expect(atRest.reveal(row?.secret ?? "", "webhook-secret", id)).toBe(secret);
    const { id: other } = await create();
    expect(() => atRest.reveal(row?.secret ?? "", "webhook-secret", other)).toThrow();
  });

  it("is refused for an address that the sender refuses, without repeating it", async () => {
    for (const url of ["http://10.0.0.1/s3cret", "s3cret"]) {
      const answer = await ask("POST", "/api/webhooks", { url, events: ["*"] });
      expect([answer.status, answer.headers["x-error-code"]]).toEqual([400, "url_refused"]);
      expect(answer.text).not.toContain("s3cret");
    }
    const { id } = await create();
    expect((await ask("PATCH", `/api/webhooks/${id}`, { url: "http://10.0.0.1/" })).status).toBe(400);
  });

  it("is refused for kinds of events that there are not [D6-event-kinds]", async () => {
    for (const events of [[], ["file.*"], ["file.Uploaded"], ["file.uploaded", "nothing"], "*", null, [1]])
      expect((await ask("POST", "/api/webhooks", { url: "https://example.test/", events })).status).toBe(400);
  });

  it("is one of at most 20, also when many are made at once [D2-webhook-endpoints]", async () => {
    const json = { url: "https://example.test/hook", events: ["*"] };
    const answers = await Promise.all(Array.from({ length: 30 }, () => ask("POST", "/api/webhooks", json)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
    expect(answers.filter(({ headers }) => headers["x-error-code"] === "limit_reached")).toHaveLength(10);
  });

  it("belongs to its account: 404 for others [D1-foreign-object-404 S4.1-webhook-id]", async () => {
    const { id } = await create();
    const stranger = await test.signUp();
    expect((await test.ask("GET", `/api/webhooks/${id}`, { key: stranger.key })).status).toBe(404);
    expect((await test.ask("POST", `/api/webhooks/${id}/test`, { key: stranger.key })).status).toBe(404);
    expect((await ask("GET", "/api/webhooks/not-a-uuid")).status).toBe(400);
  });

  it("is recorded in the audit log, and its changes are no events", async () => {
    const { id } = await create();
    await ask("PATCH", `/api/webhooks/${id}`, { description: "x" });
    await ask("POST", `/api/webhooks/${id}/rotate-secret`);
    await ask("DELETE", `/api/webhooks/${id}`);
    const { body } = await ask("GET", "/api/audit-log?action=webhook");
    const actions = (body["events"] as Json[]).map(({ action }) => action);
    expect(actions).toEqual(["webhook.deleted", "webhook.secret_rotated", "webhook.updated", "webhook.created"]);
  });
});

describe("a test delivery", () => {
  it("is sent at once with our signature, recorded, and shown as the last delivery", async () => {
    const { id, secret } = await create();
    const delivery = objectIn(await ask("POST", `/api/webhooks/${id}/test`), "delivery");
    expect(delivery).toMatchObject({ event: "webhook.test", status: "success", httpStatus: 200, lastError: "" });
    expect(delivery).toMatchObject({ attempts: 1, maxAttempts: 1, sequence: 0, nextAttemptAt: null });
    const { headers, body } = lastSent();
    expect(headers["webhook-id"]).toBe(delivery["messageId"]);
    const timestamp = Number(headers["webhook-timestamp"]);
    expect(headers["webhook-signature"]).toBe(
      signMessage({ id: String(delivery["messageId"]), timestamp, body }, [secret]),
    );
    expect(JSON.parse(body)).toMatchObject({ type: "webhook.test", data: { sequence: 0, object: { id } } });
    const read = await ask("GET", `/api/webhooks/${id}/deliveries/${String(delivery["id"])}`);
    expect(objectIn(read, "delivery")).toEqual(delivery);
    expect(read.body["attempts"]).toMatchObject([{ number: 1, trigger: "test", duration: 12, responseBody: "fine" }]);
    expect(objectIn(await ask("GET", `/api/webhooks/${id}`), "webhook")).toMatchObject({
      lastDeliveryStatus: "success",
    });
  });

  it("answers 200 with the record when the target is down, and works when inactive", async () => {
    const { id } = await create();
    await ask("PATCH", `/api/webhooks/${id}`, { active: false });
    sender.outcome = DOWN;
    const delivery = objectIn(await ask("POST", `/api/webhooks/${id}/test`), "delivery");
    expect(delivery).toMatchObject({ status: "failed", httpStatus: 0, lastError: "connection refused" });
    const webhook = objectIn(await ask("GET", `/api/webhooks/${id}`), "webhook");
    expect(webhook).toMatchObject({ lastDeliveryStatus: "failed", failureCount: 1 });
    expect(webhook["lastDeliveryAt"]).not.toBeNull();
  });

  it("is allowed 10 times a minute for each endpoint [D2-webhook-test]", async () => {
    const limited = await openTestApp({
      environment: { SERVICE_RATE_WEBHOOK_TEST: "10" },
      replace: () => ({ webhookSender: sender }),
    });
    await using _ = limited;
    const owner = await limited.signUp();
    const json = { url: "https://example.test/hook", events: ["*"] };
    const made = await limited.ask("POST", "/api/webhooks", { key: owner.key, json });
    const path = `/api/webhooks/${String(objectIn(made, "webhook")["id"])}/test`;
    const tests = Array.from({ length: 25 }, () => limited.ask("POST", path, { key: owner.key }));
    const statuses = (await Promise.all(tests)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(15);
  });
});

describe("rotating the secret", () => {
  async function signersOfNextTest(id: string): Promise<(secret: string) => boolean> {
    await ask("POST", `/api/webhooks/${id}/test`);
    const { headers, body }: Omit<Sent, "url"> = sender.sent.at(-1) ?? { headers: {}, body: "" };
    const message = { id: headers["webhook-id"] ?? "", timestamp: Number(headers["webhook-timestamp"]), body };
    const signatures = (headers["webhook-signature"] ?? "").split(" ");
    return (secret) => signatures.includes(signMessage(message, [secret]));
  }

  it("lets both secrets sign for 24 hours to the millisecond, and never three", async () => {
    const { id, secret: first } = await create();
    const rotated = await ask("POST", `/api/webhooks/${id}/rotate-secret`);
    expect(rotated.status).toBe(200);
    const second = String(rotated.body["secret"]);
    expect(rotated.body["previousSecretExpiresAt"]).toBe(new Date(test.clock.now() + DAY).toISOString());
    test.clock.advance(DAY - 1);
    const before = await signersOfNextTest(id);
    expect([before(first), before(second)]).toEqual([true, true]);
    test.clock.advance(1);
    const after = await signersOfNextTest(id);
    expect([after(first), after(second)]).toEqual([false, true]);
    const third = String((await ask("POST", `/api/webhooks/${id}/rotate-secret`)).body["secret"]);
    const fourth = String((await ask("POST", `/api/webhooks/${id}/rotate-secret`)).body["secret"]);
    const last = await signersOfNextTest(id);
    expect([last(second), last(third), last(fourth)]).toEqual([false, true, true]);
  });
});

describe("the deliveries of an endpoint", () => {
  it("are listed newest first in pages, by status, and only with their own cursor [D6-deliveries]", async () => {
    const { id } = await create();
    for (const outcome of [OK, DOWN, OK]) {
      sender.outcome = outcome;
      await ask("POST", `/api/webhooks/${id}/test`);
      test.clock.advance(1000);
    }
    const path = `/api/webhooks/${id}/deliveries`;
    const first = await ask("GET", `${path}?limit=2`);
    const cursor = String(first.body["nextCursor"]);
    const rest = await ask("GET", `${path}?limit=2&cursor=${cursor}`);
    const all = [...(first.body["deliveries"] as Json[]), ...(rest.body["deliveries"] as Json[])];
    expect(all.map(({ status }) => status)).toEqual(["success", "failed", "success"]);
    const failed = await ask("GET", `${path}?status=failed`);
    expect(failed.body["deliveries"]).toHaveLength(1);
    expect((await ask("GET", `${path}?status=failed&cursor=${cursor}`)).status).toBe(400);
  });

  it("are sent again with the same message id, in a delivery of its own; not while the endpoint is inactive", async () => {
    const { id } = await create();
    sender.outcome = DOWN;
    const delivery = objectIn(await ask("POST", `/api/webhooks/${id}/test`), "delivery");
    const path = `/api/webhooks/${id}/deliveries/${String(delivery["id"])}/redeliver`;
    const again = await ask("POST", path);
    expect(again.status).toBe(202);
    const renewed = objectIn(again, "delivery");
    expect(renewed).toMatchObject({
      status: "pending",
      attempts: 0,
      maxAttempts: 1,
      messageId: delivery["messageId"],
    });
    expect(renewed["id"]).not.toBe(delivery["id"]);
    await ask("PATCH", `/api/webhooks/${id}`, { active: false });
    const refused = await ask("POST", path);
    expect([refused.status, refused.headers["x-error-code"]]).toEqual([409, "webhook_inactive"]);
  });
});

describe("the catalogue", () => {
  it("has a schema and an example for every kind [D6-event-kinds D6-catalogue]", async () => {
    const { body } = await ask("GET", "/api/webhook-events");
    const events = body["events"] as Json[];
    expect(events).toHaveLength(26);
    for (const { kind, schema, example } of events) {
      expect((example as Json)["type"]).toBe(kind);
      expect(schema).toMatchObject({ type: "object" });
    }
  });
});

import { createServer } from "node:net";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { expectError, expectStatus, fieldsAt, objectIn, TIMESTAMP, UUID } from "../kit/answers.ts";
import { createKey, signUp } from "../kit/account.ts";
import { useProductionService, useService, useWebhookSink } from "../kit/service.ts";
import { isSignedBy, verifyArrived } from "../kit/webhook-sink.ts";
import { openWebhooks, type Webhooks } from "../kit/webhooks.ts";

const service = useService();
/** In production loopback is no address of a receiver unless its operator says so. */
const production = useProductionService({ SERVICE_WEBHOOK_NETWORKS: "127.0.0.1" });

const sink = useWebhookSink();

const mine = (): Webhooks => openWebhooks(service().server.baseUrl, service().owner.apiKey);

/** Where nothing listens: a port that was given and taken back. */
async function deadUrl(scheme = "http"): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return `${scheme}://127.0.0.1:${typeof address === "object" ? String(address?.port) : ""}/`;
}

/** Subscribed to what does not happen here, so that tests are all that is delivered. */
const NEVER = ["vault.deleted"];

const RECORD = {
  id: expect.stringMatching(UUID) as string,
  event: "webhook.test",
  messageId: expect.stringMatching(/^msg_[0-9a-f]{32}$/) as string,
  sequence: 0,
  attempts: 1,
  maxAttempts: 1,
  lastAttemptAt: expect.stringMatching(TIMESTAMP) as string,
  nextAttemptAt: null,
  completedAt: expect.stringMatching(TIMESTAMP) as string,
  createdAt: expect.stringMatching(TIMESTAMP) as string,
};

describe("the test of a webhook", () => {
  it("sends one signed delivery and answers its record with 200 [S4.1-test S4.1-test-sends S6-test-record D1-test-200 D6-test D6-headers D6-max-attempts S2.2-id S2.2-event S2.2-status S2.2-http-status S2.2-attempts S2.2-max-attempts S2.2-last-error S2.2-last-attempt-at S2.2-completed-at S2.2-created-at S1-webhooks]", async () => {
    const receiver = sink.receiver();
    receiver.answer(202);
    const { id, secret } = await mine().create(receiver.url, ["file.uploaded"]);
    const delivery = await mine().test(id);
    expect(delivery).toEqual({ ...RECORD, status: "success", httpStatus: 202, lastError: "" });
    const [arrived, ...more] = receiver.arrived;
    expect(more).toEqual([]);
    expect(arrived).toMatchObject({ method: "POST", path: new URL(receiver.url).pathname });
    expect(arrived?.headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": "coffer-webhooks/1",
      "webhook-id": delivery["messageId"],
      "webhook-timestamp": expect.stringMatching(/^\d{10}$/) as string,
      "webhook-signature": expect.stringMatching(/^v1,[0-9A-Za-z+/]{43}=$/) as string,
    });
    expect(verifyArrived(arrived!, secret)).toEqual({
      type: "webhook.test",
      timestamp: expect.stringMatching(TIMESTAMP) as string,
      data: {
        accountId: service().owner.id,
        sequence: 0,
        actor: expect.objectContaining({ type: "api-key" }) as object,
        object: { type: "webhook", id },
      },
    });
    expect(isSignedBy({ ...arrived!, body: arrived!.body.replace("webhook.test", "webhook.text") }, secret)).toBe(
      false,
    );
  });

  it("takes no body, also from clients that say it is JSON [S4.1-test]", async () => {
    const { id } = await mine().create(sink.receiver().url);
    const headers = { "content-type": "application/json" };
    expectStatus(await service().ask("POST", `/api/webhooks/${id}/test`, { headers }), 200);
    expectStatus(await service().ask("POST", `/api/webhooks/${id}/test/`), 200);
  });

  it("answers 200 with the record also when there is no answer: httpStatus 0 [D6-test D1-test-200 D6-http-status D6-last-error D6-delivery-status S2.2-http-status D0-required-without-value]", async () => {
    const { id } = await mine().create(await deadUrl());
    const delivery = await mine().test(id);
    expect(delivery).toEqual({ ...RECORD, status: "failed", httpStatus: 0, lastError: "connection refused" });
  });

  it("says in a few words what went wrong [D6-last-error D6-http-status]", async () => {
    const receiver = sink.receiver();
    const { id } = await mine().create(receiver.url);
    const elsewhere = sink.receiver();
    for (const [status, headers] of [
      [500],
      [404],
      [301, { location: elsewhere.url }],
      [307, { location: elsewhere.url }],
    ] as const) {
      receiver.answer({ status, headers: headers ?? {}, body: `no, ${String(status)}` });
      const delivery = await mine().test(id);
      expect(delivery).toEqual({
        ...RECORD,
        status: "failed",
        httpStatus: status,
        lastError: `HTTP ${String(status)}`,
      });
      const { attempts } = await mine().delivery(id, String(delivery["id"]));
      expect(attempts).toMatchObject([{ trigger: "test", httpStatus: status, responseBody: `no, ${String(status)}` }]);
    }
    // Redirects are never followed.
    expect(elsewhere.arrived).toEqual([]);
    receiver.answer("reset");
    expect(await mine().test(id)).toMatchObject({ status: "failed", httpStatus: 0, lastError: "connection reset" });
    const { id: tls } = await mine().create(receiver.url.replace("http:", "https:"));
    expect(await mine().test(tls)).toMatchObject({ status: "failed", httpStatus: 0, lastError: "tls" });
    const { id: nobody } = await mine().create("https://receiver.invalid/");
    expect(await mine().test(nobody)).toMatchObject({ status: "failed", httpStatus: 0, lastError: "dns" });
  });

  it("works also when the endpoint is switched off, and sets failureCount, lastDeliveryStatus and lastDeliveryAt [D6-test D6-failure-count D6-last-delivery-status S6-endpoint-reflects]", async () => {
    const receiver = sink.receiver();
    const { id, webhook } = await mine().create(receiver.url);
    expectStatus(await mine().ask("PATCH", `/${id}`, { active: false }), 200);
    receiver.answer(500, 500, 200);
    for (const [status, failureCount] of [
      ["failed", 1],
      ["failed", 2],
      ["success", 0],
    ]) {
      const delivery = await mine().test(id);
      expect(delivery["status"]).toBe(status);
      expect(await mine().get(id)).toEqual({
        ...webhook,
        active: false,
        updatedAt: expect.stringMatching(TIMESTAMP) as string,
        lastDeliveryStatus: status,
        lastDeliveryAt: delivery["completedAt"],
        failureCount,
      });
    }
  });

  it("is tried once and never again, and recorded among the deliveries [D6-max-attempts S6-attempts-bounded S8-attempts D6-deliveries]", async () => {
    const receiver = sink.receiver();
    receiver.answer(500);
    const { id } = await mine().create(receiver.url);
    const delivery = await mine().test(id);
    expect(await mine().deliveries(id)).toEqual([delivery]);
    expect(await mine().delivery(id, String(delivery["id"]))).toEqual({
      delivery,
      attempts: [
        {
          number: 1,
          trigger: "test",
          httpStatus: 500,
          error: "HTTP 500",
          duration: expect.any(Number) as number,
          responseBody: "",
          at: delivery["lastAttemptAt"],
        },
      ],
    });
    expect(receiver.arrived.length).toBe(1);
  });

  it("of another account's endpoint sends nothing [D1-foreign-object-404 S7-404-webhook]", async () => {
    const receiver = sink.receiver();
    const { id } = await mine().create(receiver.url);
    const stranger = openWebhooks(service().server.baseUrl, (await signUp(service().server.baseUrl)).apiKey);
    expectError(await stranger.ask("POST", `/${id}/test`), 404, "not_found");
    expect(receiver.arrived).toEqual([]);
  });

  it("may be asked for 10 times a minute an endpoint [D2-webhook-test D1-rate-limited]", async () => {
    const { server, owner } = production();
    const webhooks = openWebhooks(server.baseUrl, owner.apiKey);
    const url = await deadUrl("https");
    const [first, second] = [await webhooks.create(url, NEVER), await webhooks.create(url, NEVER)];
    const { key } = await createKey(server.baseUrl, owner.apiKey, { name: "another key of the same account" });
    const others = openWebhooks(server.baseUrl, key);
    for (let times = 0; times < 10; times += 1) {
      const answer = await (times % 2 === 0 ? webhooks : others).ask("POST", `/${first.id}/test`);
      expect(objectIn(fieldsAt(answer, 200), "delivery")["lastError"]).toBe("connection refused");
    }
    const refused = await webhooks.ask("POST", `/${first.id}/test`);
    expectError(refused, 429, "rate_limited");
    const seconds = Number(refused.headers.get("retry-after"));
    expect(seconds >= 1 && seconds <= 60).toBe(true);
    expect(refused.headers.get("ratelimit-policy")).toMatch(/;q=10;w=60/);
    expectError(await others.ask("POST", `/${first.id}/test`), 429, "rate_limited");
    expectStatus(await webhooks.ask("POST", `/${second.id}/test`), 200);
    expect((await webhooks.deliveries(first.id)).length).toBe(10);
  });
});

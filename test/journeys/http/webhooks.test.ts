import { describe, expect, it } from "vitest";
import { signUp } from "../kit/account.ts";
import { expectError, expectStatus, fieldsAt, objectIn, textIn, TIMESTAMP, UUID } from "../kit/answers.ts";
import { filesHolding } from "../kit/data-directory.ts";
import { useProductionService, useService, useWebhookSink, type Service } from "../kit/service.ts";
import { isSignedBy, verifyArrived } from "../kit/webhook-sink.ts";
import { hurryToEnd, openWebhooks, type Webhooks } from "../kit/webhooks.ts";

const service = useService();
const production = useProductionService({ SERVICE_WEBHOOK_NETWORKS: "10.1.2.0/24, fd00:1::/32, 127.0.0.1" });
const sink = useWebhookSink();

/** Nothing listens there, and nothing of these tests makes it matter. */
const URL_OF_NOBODY = "http://127.0.0.1:9/hook";

const of = ({ server, owner }: Service): Webhooks => openWebhooks(server.baseUrl, owner.apiKey);
const mine = (): Webhooks => of(service());

describe("a webhook endpoint", () => {
  it("is made with url, events and description, and looks as specified [D6-create S2.1-id S2.1-url S2.1-events S2.1-active S2.1-description S2.1-last-delivery-status S2.1-last-delivery-at S2.1-failure-count S2.1-created-at S2.1-updated-at D6-last-delivery-status]", async () => {
    const body = { url: URL_OF_NOBODY, events: ["file.uploaded", "vault.member_removed"], description: "to our queue" };
    const answer = await mine().ask("POST", "/", body);
    const fields = fieldsAt(answer, 201);
    expect(fields).toEqual({ webhook: expect.anything(), secret: expect.stringMatching(/^whsec_[0-9A-Za-z+/]{43}=$/) });
    const webhook = objectIn(fields, "webhook");
    expect(webhook).toEqual({
      id: expect.stringMatching(UUID),
      ...body,
      active: true,
      lastDeliveryStatus: "none",
      lastDeliveryAt: null,
      failureCount: 0,
      createdAt: expect.stringMatching(TIMESTAMP),
      updatedAt: expect.stringMatching(TIMESTAMP),
    });
    expect(answer.headers.get("location")).toBe(`/api/webhooks/${textIn(webhook, "id")}`);
    expect(await mine().get(textIn(webhook, "id"))).toEqual(webhook);
  });

  it("leaves its secrets nowhere, the first as little as a rotated one [D1-webhook-secrets D1-idempotency-secrets D6-rotate-secret]", async () => {
    const call = { body: { url: URL_OF_NOBODY, events: ["*"] }, headers: { "idempotency-key": "webhook-once" } };
    const fields = fieldsAt(await service().ask("POST", "/api/webhooks/", call), 201);
    const id = textIn(objectIn(fields, "webhook"), "id");
    const repeat = await service().ask("POST", "/api/webhooks/", call);
    expect(expectError(repeat, 409, "already_created")).toContain(id);
    const rotated = fieldsAt(await mine().ask("POST", `/${id}/rotate-secret`), 200);
    const { dataDirectory, server } = service();
    for (const secret of [fields, rotated].map((each) => textIn(each, "secret").slice("whsec_".length))) {
      for (const form of [secret, Buffer.from(secret, "base64").toString("hex")]) {
        expect(await filesHolding(dataDirectory, form)).toEqual([]);
        expect(server.printed()).not.toContain(form);
      }
    }
  });
});

describe("the test of a webhook", () => {
  it("sends one signed delivery and answers its record with 200 [S1-webhooks S4.1-test S4.1-test-sends S6-test-record D1-test-200 D6-test D6-headers D6-max-attempts S8-attempts S2.2-id S2.2-event S2.2-status S2.2-http-status S2.2-attempts S2.2-max-attempts S2.2-last-error S2.2-last-attempt-at S2.2-completed-at S2.2-created-at]", async () => {
    const receiver = sink.receiver();
    receiver.answer(202);
    const { id, secret } = await mine().create(receiver.url, ["file.uploaded"]);
    const delivery = await mine().test(id);
    expect(delivery).toEqual({
      id: expect.stringMatching(UUID) as string,
      event: "webhook.test",
      messageId: expect.stringMatching(/^msg_[0-9a-f]{32}$/) as string,
      sequence: 0,
      status: "success",
      httpStatus: 202,
      attempts: 1,
      maxAttempts: 1,
      lastError: "",
      lastAttemptAt: expect.stringMatching(TIMESTAMP) as string,
      nextAttemptAt: null,
      completedAt: expect.stringMatching(TIMESTAMP) as string,
      createdAt: expect.stringMatching(TIMESTAMP) as string,
    });
    const [arrived, ...more] = receiver.arrived;
    expect(more).toEqual([]);
    expect(arrived).toMatchObject({ method: "POST", path: new URL(receiver.url).pathname });
    expect(arrived?.headers).toMatchObject({ "user-agent": "coffer-webhooks/1", "webhook-id": delivery["messageId"] });
    expect(verifyArrived(arrived!, secret)).toMatchObject({ type: "webhook.test", data: { object: { id } } });
    expect(isSignedBy({ ...arrived!, body: arrived!.body.replace("webhook.test", "webhook.text") }, secret)).toBe(
      false,
    );
  });

  it("may be asked for 10 times a minute an endpoint [D2-webhook-test D1-rate-limited]", async () => {
    const { id } = await of(production()).create("https://127.0.0.1:9/", ["vault.deleted"]);
    for (let times = 0; times < 10; times += 1) expectStatus(await of(production()).ask("POST", `/${id}/test`), 200);
    const refused = await of(production()).ask("POST", `/${id}/test`);
    expectError(refused, 429, "rate_limited");
    expect(refused.headers.get("ratelimit-policy")).toMatch(/;q=10;w=60/);
  });
});

describe("an event", () => {
  it("goes to the endpoints that subscribed to its kind, signed, and is tried until it arrives [S6-subscribed-events S6-endpoint-reflects S6-attempts-bounded D6-payload D6-schedule D6-failure-count]", async () => {
    const { server, dataDirectory } = service();
    const { apiKey: key } = await signUp(server.baseUrl);
    const webhooks = openWebhooks(server.baseUrl, key);
    const [receiver, other] = [sink.receiver(), sink.receiver()];
    receiver.answer(500, 503, 200);
    const { id, secret } = await webhooks.create(receiver.url, ["folder.created"]);
    await webhooks.create(other.url, ["file.uploaded", "folder.trashed"]);
    expectStatus(await service().ask("POST", "/api/folders", { key, body: { name: "private words" } }), 201);
    await receiver.waitFor();
    const [first] = await webhooks.deliveries(id);
    const delivery = await hurryToEnd(webhooks, dataDirectory, id, textIn(first!, "id"));
    expect(delivery).toMatchObject({ status: "success", attempts: 3, httpStatus: 200, lastError: "" });
    expect(receiver.arrived.map(({ headers }) => headers["webhook-id"])).toEqual(
      Array.from({ length: 3 }, () => delivery["messageId"]),
    );
    for (const arrived of receiver.arrived) {
      expect(verifyArrived(arrived, secret)).toMatchObject({ type: "folder.created" });
      expect(arrived.body).not.toContain("private words");
    }
    const { attempts } = await webhooks.delivery(id, textIn(delivery, "id"));
    expect(attempts.map(({ number, trigger, error }) => [number, trigger, error])).toEqual([
      [1, "scheduled", "HTTP 500"],
      [2, "scheduled", "HTTP 503"],
      [3, "scheduled", ""],
    ]);
    expect(await webhooks.get(id)).toMatchObject({ lastDeliveryStatus: "success", failureCount: 0 });
    expect(other.arrived).toEqual([]);
  });
});

describe("the address of a webhook", () => {
  const register = (to: Service, url: string) =>
    to.ask("POST", "/api/webhooks/", { body: { url, events: ["account.plan_changed"] } });

  it("is https in production, of the public internet or of a network that the operator named [D6-create-url D6-blocked-address]", async () => {
    for (const host of ["receiver.example:8443", "93.184.215.14", "10.1.2.3", "[fd00:1::7]"])
      expectStatus(await register(production(), `https://${host}/`), 201);
    for (const url of ["http://receiver.example/", "http://10.1.2.3/", "https://10.1.3.1/", "https://[fd00:2::7]/"])
      expect(expectError(await register(production(), url), 400, "url_refused")).toMatch(/^body\.url: /);
  });

  it("may be plain http and of this machine in development, and of no other private network [D6-create-url D6-blocked-address]", async () => {
    for (const host of ["127.0.0.1:9", "[::1]:9", "localhost:9"])
      expectStatus(await register(service(), `http://${host}/hook`), 201);
    for (const host of ["10.0.0.1", "169.254.169.254", "[fc00::1]"])
      expectError(await register(service(), `http://${host}/`), 400, "url_refused");
  });
});

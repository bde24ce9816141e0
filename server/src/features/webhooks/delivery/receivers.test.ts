import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { openReceiver, type Receiver } from "../../../../../test/suites/webhook-receivers.ts";
import { openWebhookSender } from "../../../drivers/webhook-sender/undici.ts";
import { openTestEngine, type TestEngine } from "./engine.test-kit.ts";

const HOUR = 3_600_000;
/** Real milliseconds: more than a busy machine takes. */
const PATIENT = 30_000;
/** For headers to arrive, also on a busy machine. */
const HANGS = 1_000;

/** The engine with the sender that production has. */
function open(timeout = PATIENT): Promise<TestEngine> {
  const loopback = { allowHttp: true, allowedNetworks: ["127.0.0.0/8"], proxyUrl: null };
  return openTestEngine({ sender: openWebhookSender({ ...loopback, timeout, connectTimeout: PATIENT }) });
}

async function attemptOnce(test: TestEngine, url: string) {
  const webhookId = await test.endpoint(url);
  await test.change();
  await test.run();
  return { webhookId, delivery: await test.delivery(webhookId), webhook: await test.webhook(webhookId) };
}

const local = (receiver: Receiver): string => `http://127.0.0.1:${receiver.port}/hook`;

describe("a receiver that", () => {
  it("never answers is tried ten times, and its delivery has failed then, with the reason [D6-last-error] [D6-http-status]", async () => {
    await using test = await open(HANGS);
    await using receiver = await openReceiver(() => undefined);
    const recorded = { last_error: "timeout", http_status: 0 };
    const { webhookId, delivery, webhook } = await attemptOnce(test, local(receiver));
    expect(delivery).toMatchObject({ status: "pending", attempts: 1, ...recorded });
    expect(webhook).toMatchObject({ last_delivery_status: "pending", failure_count: 1 });
    for (let attempt = 2; attempt <= 12; attempt += 1) {
      test.app.clock.advance(29 * HOUR);
      // Not five days of failures: this is about one delivery.
      await test.app.deps.database.run(
        test.app.deps.database.build.updateTable("webhooks").set({ failing_since: null }),
      );
      await test.run();
    }
    const end = await test.delivery(webhookId);
    expect(end).toMatchObject({ status: "failed", attempts: 10, ...recorded });
    const { last_delivery_at: at, ...state } = await test.webhook(webhookId);
    expect(state).toMatchObject({ active: 1, last_delivery_status: "failed", failure_count: 10 });
    expect(at).toBe(end.completed_at);
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ["never ends", (response) => void response.write("x")],
    ["breaks off", (response) => void response.write("x", () => setTimeout(() => response.destroy(), 30))],
  ])("says 200 and whose body %s has taken the event: nothing is sent again", async (_what, answer) => {
    await using test = await open(HANGS);
    await using receiver = await openReceiver((response) => answer(response.writeHead(200)));
    const { webhookId, delivery, webhook } = await attemptOnce(test, local(receiver));
    expect(delivery).toMatchObject({ status: "success", attempts: 1, last_error: "", http_status: 200 });
    expect(webhook).toMatchObject({ last_delivery_status: "success", failure_count: 0 });
    test.app.clock.advance(29 * HOUR);
    await test.run();
    expect(receiver.requests).toHaveLength(1);
    expect(await test.delivery(webhookId)).toMatchObject({ status: "success", attempts: 1 });
  });

  it("answers 429 is left alone for as long as it asks", async () => {
    await using test = await open();
    await using receiver = await openReceiver((response, { headers }) => {
      const isFirst = receiver.requests.length === 1;
      response.writeHead(isFirst ? 429 : 204, isFirst ? { "retry-after": "120" } : {}).end();
      expect(headers["webhook-id"]).toMatch(/^msg_[0-9a-f]{32}$/);
    });
    const { webhookId, delivery } = await attemptOnce(test, local(receiver));
    expect(delivery).toMatchObject({ status: "pending", last_error: "HTTP 429" });
    expect(delivery.next_attempt_at).toBe(test.app.clock.now() + 120_000);
    test.app.clock.advance(119_999);
    await test.run();
    expect(receiver.requests).toHaveLength(1);
    test.app.clock.advance(1);
    await test.run();
    expect(receiver.requests).toHaveLength(2);
    expect(await test.delivery(webhookId)).toMatchObject({ status: "success", attempts: 2 });
  });
});

import { expect, it } from "vitest";
import type { Principal } from "../../handler.ts";
import type { WebhookOutcome, WebhookSender } from "../../ports/webhook-sender.ts";
import { openTestApp } from "../../app.test-kit.ts";
import { listDeliveries } from "./deliveries-store.ts";
import { sendTest, TESTS_AT_ONCE, TestRoom } from "./send-test.ts";

it("an account's tests wait for at most ten receivers at once, over all its endpoints", async () => {
  const room = new TestRoom();
  const { promise, resolve } = Promise.withResolvers<string>();
  const slow = Array.from({ length: TESTS_AT_ONCE }, () => room.within("a", () => promise));
  await expect(room.within("a", () => promise)).rejects.toMatchObject({ code: "rate_limited" });
  expect(await room.within("b", () => Promise.resolve("other"))).toBe("other");
  resolve("over");
  await Promise.all(slow);
  expect(await room.within("a", () => promise)).toBe("over");
  await expect(room.within("a", () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  expect(await room.within("a", () => promise)).toBe("over");
});

it("a test that its caller breaks off leaves no record: it says nothing of the receiver", async () => {
  const leaving = new AbortController();
  const broken: WebhookOutcome = { httpStatus: 0, failure: "timeout", retryAfter: null, responseBody: "", duration: 1 };
  const webhookSender: WebhookSender = {
    refusal: () => null,
    send: () => Promise.resolve(broken).finally(() => leaving.abort()),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  await using app = await openTestApp({ replace: () => ({ webhookSender }) });
  const { id: accountId, key } = await app.signUp();
  const principal: Principal = {
    kind: "api-key",
    accountId,
    keyId: null,
    sessionId: null,
    name: "test",
    accessLevel: "owner",
    scopes: null,
    vaultIds: null,
    chainAddress: null,
    expiresAt: null,
    budgets: [],
    origin: { requestId: "test", address: "127.0.0.1", userAgent: null },
  };
  const made = await app.ask("POST", "/api/webhooks", { key, json: { url: "https://a.test/", events: ["*"] } });
  const { id: webhookId } = made.body["webhook"] as { id: string };
  await expect(sendTest(app.deps, principal, webhookId, leaving.signal)).rejects.toMatchObject({
    code: "unavailable",
  });
  const page = { list: "", limit: 10, after: null };
  expect(await listDeliveries(app.deps.database, { webhookId, status: null }, page)).toEqual([]);
});

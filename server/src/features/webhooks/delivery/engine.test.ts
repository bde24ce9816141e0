import { describe, expect, it } from "vitest";
import { sendRequestedMails } from "../../../jobs/mail.ts";
import { WAITS } from "./outcome-rules.ts";
import { failing, ok, openTestEngine } from "./engine.test-kit.ts";
import { ofEachTest } from "../../../each.test-kit.ts";

const test = ofEachTest(openTestEngine);

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const DAY = 24 * HOUR;

describe("a delivery", () => {
  it("goes to each endpoint that subscribed, once, signed, and is recorded [D6-headers] [D6-delivery-status]", async () => {
    const all = await test.endpoint("/all");
    const folders = await test.endpoint("/folders", ["folder.created"]);
    const files = await test.endpoint("/files", ["file.uploaded"]);
    expect((await test.webhook(all)).last_delivery_status).toBe("none");
    await test.change();
    await test.run();
    await test.run(test.another());
    expect(test.sent.map(({ url }) => new URL(url).pathname).sort()).toEqual(["/all", "/folders"]);
    expect(await test.deliveries(files)).toEqual([]);
    const [delivery] = await test.deliveries(folders);
    expect(delivery).toMatchObject({ event: "folder.created", status: "success", attempts: 1, http_status: 200 });
    expect(delivery).toMatchObject({ last_error: "", next_attempt_at: null, lease_until: null });
    expect(await test.attempts(delivery?.id ?? "")).toMatchObject([{ number: 1, trigger: "scheduled", error: "" }]);
    const [first, second] = test.sent;
    expect(first?.headers["webhook-id"]).toBe(second?.headers["webhook-id"]);
    expect(first?.headers["webhook-signature"]).toMatch(/^v1,/);
    expect(await test.webhook(all)).toMatchObject({ last_delivery_status: "success", failure_count: 0 });
  });

  it("is tried ten times, each time within a fifth of the schedule, and has failed then [D6-schedule] [D6-max-attempts]", async () => {
    const webhookId = await test.endpoint();
    test.answer(() => failing("HTTP 500"));
    await test.change();
    await test.run();
    for (let attempt = 2; attempt <= 10; attempt += 1) {
      const { next_attempt_at: due, status } = await test.delivery(webhookId);
      expect(status).toBe("pending");
      const wait = (due ?? 0) - test.app.clock.now();
      const scheduled = WAITS[attempt - 1] ?? 0;
      expect(wait).toBeGreaterThanOrEqual(scheduled * 0.8);
      expect(wait).toBeLessThanOrEqual(scheduled * 1.2);
      test.app.clock.advance(wait - 1);
      await test.run();
      expect(test.sent).toHaveLength(attempt - 1);
      expect((await test.webhook(webhookId)).last_delivery_status).toBe("pending");
      test.app.clock.advance(1);
      await test.run();
      expect(test.sent).toHaveLength(attempt);
    }
    const delivery = await test.delivery(webhookId);
    expect(delivery).toMatchObject({ status: "failed", attempts: 10, last_error: "HTTP 500", http_status: 500 });
    expect(await test.webhook(webhookId)).toMatchObject({
      last_delivery_status: "failed",
      failure_count: 10,
      active: 1,
    });
    test.app.clock.advance(10 * DAY);
    await test.run();
    expect(test.sent).toHaveLength(10);
    expect(new Set(test.sent.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect((await test.attempts(delivery.id)).map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });
});

describe("an endpoint", () => {
  it("that answers 410 is turned off at once, its owner is told once, and its queue is kept [D6-disable D6-disable-mail]", async () => {
    const webhookId = await test.endpoint();
    test.answer(() => failing("HTTP 410"));
    await test.change();
    await test.run();
    expect(await test.delivery(webhookId)).toMatchObject({ status: "failed", attempts: 1, last_error: "HTTP 410" });
    expect(await test.webhook(webhookId)).toMatchObject({ active: 0, failure_count: 1 });
    const requests = test.app.deps.database.build.selectFrom("mail_requests").selectAll();
    const waiting = async () =>
      (await test.app.deps.database.all(requests)).filter(({ purpose }) => purpose === "webhook-disabled");
    expect(await waiting()).toHaveLength(1);
    await test.change();
    await test.run();
    expect(test.sent).toHaveLength(1);
    expect(await test.delivery(webhookId)).toMatchObject({ status: "pending", attempts: 0 });
    await test.app.ask("PATCH", `/api/webhooks/${webhookId}`, { key: test.key, json: { active: true } });
    await test.run();
    expect(await test.webhook(webhookId)).toMatchObject({ active: 0 });
    expect(await waiting()).toHaveLength(1);
    test.answer(() => ok);
    await test.app.ask("PATCH", `/api/webhooks/${webhookId}`, { key: test.key, json: { active: true } });
    await test.change();
    await test.run();
    expect(await test.webhook(webhookId)).toMatchObject({
      active: 1,
      failure_count: 0,
      last_delivery_status: "success",
    });
  });

  it("is turned off when nothing but failures came for five days, not a millisecond before", async () => {
    const webhookId = await test.endpoint();
    test.answer(() => failing("timeout"));
    await test.change();
    await test.run();
    const since = test.app.clock.now();
    expect((await test.webhook(webhookId)).failing_since).toBe(since);
    test.app.clock.advance(5 * DAY - 1);
    await test.change();
    await test.run();
    expect((await test.webhook(webhookId)).active).toBe(1);
    test.app.clock.advance(1);
    await test.change();
    await test.run();
    expect((await test.webhook(webhookId)).active).toBe(0);
  });

  it("that is paused keeps its queue, and gets all of it when it goes on [D6-queue-kept]", async () => {
    const webhookId = await test.endpoint();
    await test.app.ask("PATCH", `/api/webhooks/${webhookId}`, { key: test.key, json: { active: false } });
    for (let count = 0; count < 10; count += 1) await test.change();
    await test.run();
    test.app.clock.advance(29 * DAY);
    await test.run();
    expect(test.sent).toEqual([]);
    await test.app.ask("PATCH", `/api/webhooks/${webhookId}`, { key: test.key, json: { active: true } });
    await test.run();
    expect(test.sent).toHaveLength(10);
    expect(new Set(test.sent.map(({ headers }) => headers["webhook-id"])).size).toBe(10);
  });

  it("that is turned off is named to its owner in no mail, and mailed about once a day at most [D6-disable]", async () => {
    const disabled = async (path: string): Promise<void> => {
      await test.endpoint(`http://127.0.0.1:9/secret-${path}`);
      await test.change();
      await test.run();
      await sendRequestedMails({ ...test.app.deps, log: test.deps.log }, new AbortController().signal);
    };
    const about = () => test.app.mails.filter(({ subject }) => subject === "A webhook endpoint was turned off");
    test.answer(() => failing("HTTP 410"));
    await disabled("a");
    await disabled("b");
    test.app.clock.advance(DAY - 1);
    await disabled("c");
    expect(about()).toHaveLength(1);
    expect(about()[0]?.text).not.toContain("secret-");
    test.app.clock.advance(1);
    await disabled("d");
    expect(about()).toHaveLength(2);
    // A clock that is set back must not keep the owner uninformed for as long.
    test.app.clock.advance(-30 * DAY);
    await disabled("e");
    expect(about()).toHaveLength(3);
  });

  it("that is turned off by the service is so in the audit log, and its test still works while it is off", async () => {
    const webhookId = await test.endpoint();
    test.answer(() => failing("HTTP 410"));
    await test.change();
    await test.run();
    const audit = await test.app.ask("GET", "/api/audit-log?limit=1", { key: test.key });
    expect(audit.text).toContain("webhook.disabled");
    test.answer(() => ok);
    const answer = await test.app.ask("POST", `/api/webhooks/${webhookId}/test`, { key: test.key });
    expect(answer.body["delivery"]).toMatchObject({ status: "success", attempts: 1, maxAttempts: 1 });
    const { active, failure_count, last_delivery_status } = await test.webhook(webhookId);
    expect({ active, failure_count, last_delivery_status }).toEqual({
      active: 0,
      failure_count: 0,
      last_delivery_status: "success",
    });
  });
});

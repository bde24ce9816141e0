import { describe, expect, it } from "vitest";
import { createAtRest } from "../../../secrets/at-rest.ts";
import { liveSecrets } from "../secrets.ts";
import { Engine } from "./engine.ts";
import { removeEndedSecrets } from "./retention.ts";
import { type Answer, failing, ok, openTestEngine, type TestEngine } from "./engine.test-kit.ts";
import { ofEachTest } from "../../../each.test-kit.ts";

const test = ofEachTest(openTestEngine);

const DAY = 86_400_000;

/** Begins an attempt whose answer comes when it is given. */
async function beginAttempt(): Promise<(answer: Answer) => Promise<void>> {
  const { promise, resolve } = Promise.withResolvers<Answer>();
  test.answer(() => promise);
  await test.engine.poll();
  await test.engine.flush();
  return async (answer) => {
    test.answer(() => ok);
    resolve(answer);
    await test.engine.settled();
    await test.engine.flush();
  };
}

describe("an endpoint that moves while an attempt is under way", () => {
  it("is not turned off by what its old address answers, and gets what that refused [D6-disable]", async () => {
    const webhookId = await test.endpoint("/old");
    await test.change();
    const end = await beginAttempt();
    const url = "http://127.0.0.1:9/new";
    await test.app.ask("PATCH", `/api/webhooks/${webhookId}`, { key: test.key, json: { url } });
    await end(failing("HTTP 410"));
    expect(await test.webhook(webhookId)).toMatchObject({ active: 1, failing_since: null });
    await test.change();
    await test.run();
    expect(test.sent.at(-1)?.url).toBe(url);
    expect(await test.delivery(webhookId)).toMatchObject({ status: "success" });
  });

  it("starts to count its five days with its new address", async () => {
    const webhookId = await test.endpoint("/old");
    await test.change();
    const end = await beginAttempt();
    const json = { url: "http://127.0.0.1:9/new" };
    await test.app.ask("PATCH", `/api/webhooks/${webhookId}`, { key: test.key, json });
    await end(failing("HTTP 500"));
    expect(await test.webhook(webhookId)).toMatchObject({ failing_since: null, last_delivery_status: "pending" });
  });
});

describe("a secret that cannot be read", () => {
  /** As after the service was started with another master key. */
  function estranged(test: TestEngine): { engine: Engine; complaints: () => number } {
    const atRest = createAtRest(new Uint8Array(32).fill(7), test.deps.random);
    let complaints = 0;
    const log = { info: () => undefined, error: () => void (complaints += 1) };
    return { engine: new Engine({ ...test.deps, atRest, log }), complaints: () => complaints };
  }

  it("costs no attempt: the queue waits, and goes out when it can be read again", async () => {
    const webhookId = await test.endpoint();
    await test.change();
    const { engine, complaints } = estranged(test);
    for (let turn = 0; turn < 10; turn += 1) {
      await test.run(engine);
      test.app.clock.advance(5_000);
    }
    expect(complaints()).toBe(1);
    expect(await test.delivery(webhookId)).toMatchObject({ status: "pending", attempts: 0 });
    await test.run();
    expect(await test.delivery(webhookId)).toMatchObject({ status: "success", attempts: 1 });
  });

  it("stops none of the others", async () => {
    const webhookId = await test.endpoint();
    const { engine } = estranged(test);
    const { atRest, database } = test.deps;
    const other = await test.webhook(await test.endpoint("/other"));
    const [secret = ""] = liveSecrets(atRest, other, test.app.clock.now());
    const moved = createAtRest(new Uint8Array(32).fill(7), test.deps.random).protect(
      secret,
      "webhook-secret",
      other.id,
    );
    await database.run(database.build.updateTable("webhooks").set({ secret: moved }).where("id", "=", other.id));
    await test.change();
    await test.run(engine);
    expect(await test.delivery(webhookId)).toMatchObject({ status: "pending" });
    expect(await test.delivery(other.id)).toMatchObject({ status: "success" });
  });

  it("is mended by rotating it, at once", async () => {
    const row = await test.webhook(await test.endpoint());
    const now = test.app.clock.now();
    const kept = { ...row, previous_secret: "unreadable", previous_secret_ends_at: now + 1 };
    expect(liveSecrets(test.deps.atRest, kept, now)).toHaveLength(1);
  });
});

it("a rotated secret is forgotten when it has ended, so that no clock that is set back revives it", async () => {
  const webhookId = await test.endpoint();
  await test.app.ask("POST", `/api/webhooks/${webhookId}/rotate-secret`, { key: test.key });
  test.app.clock.advance(DAY - 1);
  expect(await removeEndedSecrets(test.app.deps)).toEqual({ removed: 0 });
  test.app.clock.advance(1);
  expect(await removeEndedSecrets(test.app.deps)).toEqual({ removed: 1 });
  test.app.clock.advance(-DAY);
  expect(liveSecrets(test.deps.atRest, await test.webhook(webhookId), test.app.clock.now())).toHaveLength(1);
});

it("a test that is sent again is tried once, counts as a failure, and turns nothing off [D6-failure-count]", async () => {
  const webhookId = await test.endpoint();
  const made = await test.app.ask("POST", `/api/webhooks/${webhookId}/test`, { key: test.key });
  const { id } = made.body["delivery"] as { id: string };
  test.answer(() => failing("HTTP 410"));
  await test.app.ask("POST", `/api/webhooks/${webhookId}/deliveries/${id}/redeliver`, { key: test.key });
  await test.run();
  const again = (await test.deliveries(webhookId)).find((row) => row.id !== id);
  expect(again).toMatchObject({ status: "failed", attempts: 1, max_attempts: 1 });
  expect(await test.webhook(webhookId)).toMatchObject({ active: 1, failure_count: 1, last_delivery_status: "failed" });
});

it("an endpoint's last delivery is at the time when that delivery ended, however long recording takes", async () => {
  const id = await test.endpoint();
  await test.change();
  const { clock } = test.deps;
  let reads = 0;
  const moving = Object.assign(Object.create(clock) as typeof clock, { now: () => clock.now() + (reads += 1) });
  await test.run(test.another({ clock: moving }));
  const { status, completed_at: end } = await test.delivery(id);
  expect(status).toBe("success");
  expect((await test.webhook(id)).last_delivery_at).toBe(end);
});

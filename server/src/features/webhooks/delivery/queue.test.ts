import { describe, expect, it } from "vitest";
import { removeOldDeliveries } from "./retention.ts";
import { type Answer, failing, ok, openTestEngine } from "./engine.test-kit.ts";
import { wrapped } from "../../../wrapped.test-kit.ts";
import { ofEachTest } from "../../../each.test-kit.ts";

const test = ofEachTest(openTestEngine);

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe("a dead endpoint among a hundred", () => {
  it("holds up none of the others: all have their event after as many turns as without it", async () => {
    const environment = { SERVICE_MAX_WEBHOOKS: "100", SERVICE_WEBHOOK_CONCURRENCY: "16" };
    const turns = async (dead: boolean): Promise<number> => {
      await using test = await openTestEngine({ environment });
      for (let at = 0; at < 100; at += 1) await test.endpoint(at === 50 ? "/dead" : `/${at}`);
      const never = new Promise<Answer>(() => undefined);
      test.answer(({ url }) => (dead && url.endsWith("/dead") ? never : ok));
      for (let count = 0; count < 3; count += 1) await test.change();
      await test.engine.poll();
      for (let turn = 1; ; turn += 1) {
        await test.engine.flush();
        // Not `settled`: the dead one never is. Answers of the others are there after a turn of the event loop.
        await new Promise((resolve) => setImmediate(resolve));
        if (test.sent.filter(({ url }) => !url.endsWith("/dead")).length === 297) return turn;
        if (turn > 1000) throw new Error("the others wait for the dead one");
      }
    };
    const without = await turns(false);
    expect(await turns(true)).toBeLessThanOrEqual(without * 2);
  });
});

describe("the queue", () => {
  it("keeps an outcome that could not be recorded, and records it when the database is back", async () => {
    const webhookId = await test.endpoint();
    await test.change();
    await test.engine.poll();
    await test.engine.flush();
    await test.engine.settled();
    const { database } = test.deps;
    const broken = wrapped(database, { act: () => Promise.reject(new Error("away")) });
    const deps = test.deps as { database: typeof database };
    deps.database = broken;
    await expect(test.engine.flush()).rejects.toThrow("away");
    deps.database = database;
    await test.engine.flush();
    expect(test.sent).toHaveLength(1);
    expect(await test.delivery(webhookId)).toMatchObject({ status: "success", attempts: 1 });
  });

  it("records an answer as it is, quotes and all, but for half a character", async () => {
    const webhookId = await test.endpoint();
    test.answer(() => ({ ...failing("HTTP 500"), responseBody: `"é" \\ '{},\n\u{1f600} ${"\u{1f600}".charAt(0)}` }));
    await test.change();
    await test.engine.poll();
    await test.engine.flush();
    await test.engine.settled();
    await test.engine.flush();
    const { id } = await test.delivery(webhookId);
    expect(await test.attempts(id)).toMatchObject([
      { number: 1, trigger: "scheduled", http_status: 500, error: "HTTP 500", duration: 1 },
    ]);
    expect((await test.attempts(id))[0]?.response_body).toBe(`"é" \\ '{},\n\u{1f600} \ufffd`);
  });

  it("is claimed for many endpoints at once, for each within what it bears over all processes", async () => {
    const never = new Promise<Answer>(() => undefined);
    const paths = ["/a", "/b", "/c"];
    for (const path of paths) await test.endpoint(path);
    for (let count = 0; count < 3; count += 1) await test.change();
    test.answer(() => never);
    const another = test.another();
    const sentTo = (): string[] => test.sent.map(({ url }) => new URL(url).pathname).sort();
    for (const engine of [test.engine, another]) {
      await engine.poll();
      await engine.flush();
      expect(sentTo()).toEqual([...paths, ...paths].sort());
    }
    expect(another.inFlight).toBe(0);
  });

  it("forgets what was under way to an endpoint that is deleted meanwhile", async () => {
    const webhookId = await test.endpoint();
    await test.change();
    const answer = Promise.withResolvers<Answer>();
    test.answer(() => answer.promise);
    await test.engine.poll();
    await test.engine.flush();
    const gone = await test.app.ask("DELETE", `/api/webhooks/${webhookId}`, { key: test.key });
    expect(gone.status).toBe(204);
    answer.resolve(ok);
    await test.run();
    expect(await test.deliveries(webhookId)).toEqual([]);
  });

  it("sends a redelivery under the same webhook-id, and recovers each failed message once [D6-redeliver] [D6-recover]", async () => {
    const webhookId = await test.endpoint();
    test.answer(() => failing("HTTP 404"));
    for (let count = 0; count < 3; count += 1) await test.change();
    // Ten attempts, and some rounds in which the endpoint was turned off before all had their turn.
    for (let round = 0; round < 15; round += 1) {
      await test.run();
      test.app.clock.advance(29 * HOUR);
      await test.app.ask("PATCH", `/api/webhooks/${webhookId}`, { key: test.key, json: { active: true } });
    }
    expect((await test.deliveries(webhookId)).map(({ status }) => status)).toEqual(["failed", "failed", "failed"]);
    test.answer(() => ok);
    const before = test.sent.length;
    const path = `/api/webhooks/${webhookId}`;
    const one = await test.delivery(webhookId);
    const again = await test.app.ask("POST", `${path}/deliveries/${one.id}/redeliver`, { key: test.key });
    expect(again.status).toBe(202);
    const json = { since: new Date(0).toISOString() };
    const recover = (until?: string) =>
      test.app.ask("POST", `${path}/recover`, { key: test.key, json: until === undefined ? json : { ...json, until } });
    expect((await recover(new Date(1).toISOString())).body).toEqual({ count: 0 });
    // The one that is on its way already is not sent a third time.
    expect((await recover()).body).toEqual({ count: 2 });
    expect((await recover()).body).toEqual({ count: 0 });
    await test.run();
    expect((await recover()).body).toEqual({ count: 0 });
    const ids = test.sent.slice(before).map(({ headers }) => headers["webhook-id"]);
    expect(ids).toHaveLength(3);
    expect(new Set(test.sent.map(({ headers }) => headers["webhook-id"])).size).toBe(3);
    const renewed = (await test.deliveries(webhookId)).filter(({ trigger }) => trigger === "manual");
    expect(renewed.map(({ status, attempts }) => ({ status, attempts }))).toEqual(
      Array.from({ length: 3 }, () => ({ status: "success", attempts: 1 })),
    );
  });

  it("holds deliveries for 30 days, those of a paused endpoint too, and their attempts with them", async () => {
    const webhookId = await test.endpoint();
    const paused = await test.endpoint("/paused");
    await test.app.ask("PATCH", `/api/webhooks/${paused}`, { key: test.key, json: { active: false } });
    await test.change();
    await test.run();
    const { id } = await test.delivery(webhookId);
    const signal = new AbortController().signal;
    test.app.clock.advance(30 * DAY - 1);
    expect(await removeOldDeliveries(test.app.deps, signal)).toEqual({ removed: 0 });
    test.app.clock.advance(1);
    expect(await removeOldDeliveries(test.app.deps, signal)).toEqual({ removed: 2 });
    expect(await test.attempts(id)).toEqual([]);
    expect(await test.deliveries(paused)).toEqual([]);
  });
});

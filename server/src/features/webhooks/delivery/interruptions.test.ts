import { describe, expect, it } from "vitest";
import { pollPause } from "../../../ports/news.ts";
import { CLAIM_MARGIN, claimsOf, endClaims } from "./queue-store.ts";
import { type Answer, failing, ok, openTestEngine, type TestEngine } from "./engine.test-kit.ts";
import { wrapped } from "../../../wrapped.test-kit.ts";
import { ofEachTest } from "../../../each.test-kit.ts";

const test = ofEachTest(openTestEngine);

const DAY = 86_400_000;
/** Of one attempt, with what it has beyond. */
const LEASE = 30_000;

describe("a process that ends between sending and recording", () => {
  /** One whose answers never come, as if it had been killed. */
  async function attemptAndDie(test: TestEngine): Promise<void> {
    test.answer(() => new Promise(() => undefined));
    const dead = test.another();
    await dead.poll();
    await dead.flush();
    test.answer(() => ok);
  }

  it("sends the message again when its lease is over, not before, under the same webhook-id", async () => {
    const webhookId = await test.endpoint();
    await test.change();
    await attemptAndDie(test);
    expect(await test.delivery(webhookId)).toMatchObject({ status: "delivering", attempts: 1 });
    // The margin, less than this test may take.
    await test.ageClaims(LEASE);
    await test.run();
    expect(test.sent).toHaveLength(1);
    await test.ageClaims(CLAIM_MARGIN);
    // Leases are looked at every five seconds.
    test.app.clock.advance(5_000);
    await test.run();
    const ids = test.sent.map(({ headers }) => headers["webhook-id"]);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
    const delivery = await test.delivery(webhookId);
    expect(delivery).toMatchObject({ status: "success", attempts: 2 });
    expect((await test.attempts(delivery.id)).map(({ error }) => error)).toEqual(["interrupted", ""]);
  });

  it("is looked for at every rare poll, however long the last one took", async () => {
    const webhookId = await test.endpoint();
    await test.change();
    const { database } = test.deps;
    const slow = wrapped(database, {
      transaction(work, options) {
        test.app.clock.advance(100);
        return database.transaction(work, options);
      },
    });
    const living = test.another({ database: slow });
    const began = test.app.clock.elapsed();
    await living.poll();
    await attemptAndDie(test);
    await test.ageClaims(LEASE + CLAIM_MARGIN);
    const next = began + pollPause({ isLive: true });
    // A timer may be a little early for the poll, which begins a little after it.
    test.app.clock.advance(next - 1 - test.app.clock.elapsed());
    await living.poll();
    expect(await test.delivery(webhookId)).toMatchObject({ status: "pending", last_error: "interrupted" });
  });

  it("sends it again at once when it is alone with its storage", async () => {
    const webhookId = await test.endpoint();
    await test.change();
    await attemptAndDie(test);
    await endClaims(test.deps.database, test.app.clock.now() + 1);
    await test.run(test.another());
    expect(await test.delivery(webhookId)).toMatchObject({ status: "success", attempts: 2 });
  });

  it("each time has ten attempts and no more, which count and turn nothing off", async () => {
    const webhookId = await test.endpoint();
    await test.change();
    for (let death = 0; death < 12; death += 1) {
      await attemptAndDie(test);
      await test.ageClaims(LEASE + CLAIM_MARGIN);
    }
    await test.run(test.another());
    expect(test.sent).toHaveLength(10);
    const delivery = await test.delivery(webhookId);
    expect(delivery).toMatchObject({ status: "failed", attempts: 10, last_error: "interrupted" });
    expect(await test.attempts(delivery.id)).toHaveLength(10);
    expect(await test.webhook(webhookId)).toMatchObject({ active: 1, failure_count: 10, failing_since: null });
  });

  it("and comes to life again changes nothing any more: its lease is another's attempt by then", async () => {
    const webhookId = await test.endpoint();
    await test.change();
    const answer = Promise.withResolvers<Answer>();
    test.answer(() => answer.promise);
    const slow = test.another();
    await slow.poll();
    await slow.flush();
    test.answer(() => ok);
    test.app.clock.advance(60_000);
    await test.ageClaims(60_000);
    await test.run();
    answer.resolve(failing("HTTP 500"));
    await slow.settled();
    await slow.flush();
    expect(await test.delivery(webhookId)).toMatchObject({ status: "success", attempts: 2, http_status: 200 });
    expect(await test.webhook(webhookId)).toMatchObject({ last_delivery_status: "success", failing_since: null });
  });
});

describe("a clock that is set", () => {
  it("forward makes nobody send what is under way a second time in the same process", async () => {
    const webhookId = await test.endpoint();
    await test.change();
    const answer = Promise.withResolvers<Answer>();
    test.answer(() => answer.promise);
    await test.engine.poll();
    await test.engine.flush();
    test.app.clock.advance(30 * DAY);
    await test.ageClaims(30 * DAY);
    await test.engine.poll();
    await test.engine.flush();
    answer.resolve(ok);
    await test.run();
    expect(test.sent).toHaveLength(1);
    expect(await test.delivery(webhookId)).toMatchObject({ status: "success", attempts: 1 });
  });

  it("back by a month loses nothing: what seems to be due in a month is due now", async () => {
    const webhookId = await test.endpoint();
    test.answer(() => (test.sent.length === 1 ? failing("HTTP 500") : ok));
    await test.change();
    await test.run();
    test.app.clock.advance(-30 * DAY);
    await test.run();
    expect(await test.delivery(webhookId)).toMatchObject({ status: "success", attempts: 2 });
  });
});

describe("processes whose clocks differ", () => {
  it.each([-DAY, -60_000, 60_000, 30 * DAY])("by %i ms send what is under way once", async (skew) => {
    const webhookId = await test.endpoint();
    await test.change();
    const answer = Promise.withResolvers<Answer>();
    test.answer(() => answer.promise);
    await test.engine.poll();
    await test.engine.flush();
    const { clock } = test.app;
    const skewed = { now: () => clock.now() + skew, elapsed: () => clock.elapsed() };
    const other = test.another({ clock: skewed });
    await other.poll();
    await other.flush();
    expect(test.sent).toHaveLength(1);
    answer.resolve(ok);
    await test.run();
    expect(await test.delivery(webhookId)).toMatchObject({ status: "success", attempts: 1 });
  });
});

describe("a process that stands still between a claim and its attempt", () => {
  it("does not make it any more: somebody else has", async () => {
    const webhookId = await test.endpoint();
    await test.change();
    const { database } = test.deps;
    const stalling = wrapped(database, {
      async act(accountIds, work, options) {
        const result = await database.act(accountIds, work, options);
        if ((await test.delivery(webhookId).catch(() => null))?.status !== "delivering") return result;
        await test.ageClaims(60_000);
        test.app.clock.advance(60_000);
        await test.run();
        return result;
      },
    });
    const slow = test.another({ database: stalling });
    await slow.poll();
    await slow.flush();
    await slow.settled();
    expect(test.sent).toHaveLength(1);
    expect(await test.delivery(webhookId)).toMatchObject({ status: "success", attempts: 2 });
  });
});

describe("attempts at once to one endpoint", () => {
  it("are counted over all processes, and those of a dead one until its leases are over", async () => {
    await using test = await openTestEngine({ environment: { SERVICE_WEBHOOK_ENDPOINT_CONCURRENCY: "3" } });
    await test.endpoint();
    for (let count = 0; count < 12; count += 1) await test.change();
    test.answer(() => new Promise(() => undefined));
    const engines = [test.engine, test.another(), test.another(), test.another()];
    const exchangeAll = async (): Promise<void> => {
      for (const engine of engines) await engine.poll();
      await Promise.all(engines.map((engine) => engine.flush()));
    };
    await exchangeAll();
    await exchangeAll();
    expect(test.sent).toHaveLength(2);
    await test.ageClaims(LEASE + CLAIM_MARGIN);
    const another = test.another();
    await another.poll();
    await another.flush();
    expect(test.sent).toHaveLength(4);
  });

  it("are as many as it bears, also where two processes claim at the same moment", async () => {
    const webhookId = await test.endpoint();
    for (let count = 0; count < 6; count += 1) await test.change();
    await test.engine.poll();
    const { clock, database } = test.deps;
    const claims = claimsOf(database);
    const wanted = [{ webhookId, dueBy: clock.now(), limit: 2, most: 2 }];
    const began: (() => void)[] = [];
    /** Commits when the other one has claimed, too. SQLite lets the other one in only afterwards. */
    const claim = (): Promise<number> =>
      database.transaction(async (transaction) => {
        const { length } = await claims.due(transaction, wanted, { now: clock.now(), lease: LEASE });
        await new Promise<void>((resolve) => {
          began.push(resolve);
          if (began.length === 2) for (const go of began) go();
          setTimeout(resolve, 300);
        });
        return length;
      });
    expect((await Promise.all([claim(), claim()])).sort((a, b) => a - b)).toEqual([0, 2]);
    // What is under way stays as it is, and the lock went with the transaction.
    await test.ageClaims(LEASE + CLAIM_MARGIN);
    expect(await claim()).toBe(2);
  });
});

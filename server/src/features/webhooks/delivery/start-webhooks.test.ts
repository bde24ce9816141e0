import { expect, it } from "vitest";
import { wrapped } from "../../../wrapped.test-kit.ts";
import { systemClock } from "../../../ports/clock.ts";
import { startWebhooks } from "./start-webhooks.ts";
import { ok, openTestEngine } from "./engine.test-kit.ts";
import { ofEachTest } from "../../../each.test-kit.ts";

const test = ofEachTest(openTestEngine);

it("sends what happens while it runs, and what it has begun is recorded before it stops", async () => {
  const webhookId = await test.endpoint();
  const asked = Promise.withResolvers<undefined>();
  const answered = Promise.withResolvers<typeof ok>();
  test.answer(() => {
    asked.resolve(undefined);
    return answered.promise;
  });
  const stop = startWebhooks({ ...test.deps, clock: systemClock });
  await test.change();
  await asked.promise;
  const stopped = stop(10_000);
  // While it stops, nothing new begins.
  await test.change();
  answered.resolve(ok);
  await stopped;
  expect(test.sent).toHaveLength(1);
  const deliveries = await test.deliveries(webhookId);
  expect(deliveries.filter(({ status }) => status === "success")).toHaveLength(1);
  expect(deliveries.every(({ status }) => status !== "delivering")).toBe(true);
  await stop(10_000);
});

it("leaves what does not end in time to its lease", async () => {
  const webhookId = await test.endpoint();
  const asked = Promise.withResolvers<undefined>();
  test.answer(() => {
    asked.resolve(undefined);
    return new Promise(() => undefined);
  });
  const stop = startWebhooks({ ...test.deps, clock: systemClock });
  await test.change();
  await asked.promise;
  await stop(1);
  expect(await test.delivery(webhookId)).toMatchObject({ status: "delivering", attempts: 1 });
});

it("goes on after a failure of the database", async () => {
  const webhookId = await test.endpoint();
  await test.change();
  const { database } = test.deps;
  let failures = 0;
  const flaky = wrapped(database, {
    transaction(work, options) {
      failures += 1;
      return failures === 1 ? Promise.reject(new Error("away")) : database.transaction(work, options);
    },
  });
  const errors: string[] = [];
  const recorded = Promise.withResolvers<undefined>();
  const log = { info: () => undefined, error: (_: unknown, message: string) => void errors.push(message) };
  test.answer(() => {
    recorded.resolve(undefined);
    return ok;
  });
  const stop = startWebhooks({ ...test.deps, database: flaky, clock: systemClock, log });
  await recorded.promise;
  await stop(10_000);
  expect(errors).toEqual(["webhooks have to wait"]);
  expect(await test.delivery(webhookId)).toMatchObject({ status: "success", attempts: 1 });
});

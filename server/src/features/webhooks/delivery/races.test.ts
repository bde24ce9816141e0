import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_ATTEMPTS } from "@coffer/contract";
import { failing, ok, openTestEngine, type TestEngine } from "./engine.test-kit.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
const HOUR = 3_600_000;
const LEASE = 30_000;

/** One step of somebody: an engine polls, flushes, or dies and is replaced; a change is made; time passes. */
type Step =
  | { readonly kind: "poll" | "flush" | "settle" | "die"; readonly who: number }
  | { readonly kind: "change" }
  | { readonly kind: "advance"; readonly by: number };

const who = fc.integer({ min: 0, max: 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom("poll", "flush", "settle"), who }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("die" as const), who }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("change" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("advance" as const),
      by: fc.constantFrom(1_000, 6_000, LEASE, 6 * 60_000, 30 * HOUR, -HOUR, -50 * HOUR),
    }),
  },
);

describe("two engines on one database, which die, and whose clock is set forward and back,", () => {
  it(
    "never claim the same attempt twice, lose nothing, and never try more than ten times",
    { timeout: 300_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 10, maxLength: 40 }),
          fc.infiniteStream(fc.nat(2)),
          async (steps, dice) => {
            await using test = await openTestEngine();
            const webhookId = await test.endpoint();
            test.answer(() => (dice.next().value === 0 ? failing("HTTP 500") : ok));
            const changes = await play(test, steps);
            await finish(test, webhookId);
            const deliveries = await test.deliveries(webhookId);
            expect(deliveries.map(({ sequence }) => sequence).sort((a, b) => a - b)).toHaveLength(changes);
            expect(new Set(deliveries.map(({ message_id }) => message_id)).size).toBe(changes);
            for (const { id, status, attempts, message_id: messageId } of deliveries) {
              expect(["success", "failed"]).toContain(status);
              expect(attempts).toBeLessThanOrEqual(MAX_ATTEMPTS.event);
              const sent = test.sent.filter(({ headers }) => headers["webhook-id"] === messageId).length;
              // Each request was counted before it was made; a claim whose process died at once may have made none.
              expect(sent).toBeLessThanOrEqual(attempts);
              const numbers = (await test.attempts(id)).map(({ number }) => number);
              expect(numbers).toEqual(Array.from({ length: attempts }, (_, at) => at + 1));
            }
          },
        ),
        { numRuns: FULL ? 100 : 8 },
      );
    },
  );

  it("share the work: both claim at the same moment, and every message goes out once", async () => {
    await using test = await openTestEngine({ environment: { SERVICE_WEBHOOK_ENDPOINT_RATE: "1000" } });
    for (let count = 0; count < 10; count += 1) await test.endpoint(`/${String(count)}`);
    for (let count = 0; count < 10; count += 1) await test.change();
    const engines = [test.engine, test.another(), test.another()];
    for (let turn = 0; turn < 30; turn += 1) {
      await Promise.all(engines.map((engine) => engine.poll()));
      await Promise.all(engines.map((engine) => engine.flush()));
      await Promise.all(engines.map((engine) => engine.settled()));
      // Each leaves an endpoint to the others for a moment where they have all of it.
      test.app.clock.advance(100);
    }
    for (const engine of engines) await test.run(engine);
    const sent = test.sent.map(({ url, headers }) => `${url} ${String(headers["webhook-id"])}`);
    expect(sent).toHaveLength(100);
    expect(new Set(sent).size).toBe(100);
  });
});

async function play(test: TestEngine, steps: readonly Step[]): Promise<number> {
  const engines = [test.engine, test.another()];
  let changes = 0;
  for (const each of steps) {
    if (each.kind === "advance") {
      test.app.clock.advance(each.by);
      await test.ageClaims(each.by);
    } else if (each.kind === "change") {
      await test.change();
      changes += 1;
    } else {
      const engine = engines[each.who] ?? test.engine;
      if (each.kind === "poll") await engine.poll();
      // Its answers are on their way, and it is never asked again.
      else if (each.kind === "die") engines[each.who] = test.another();
      else if (each.kind === "flush") await engine.flush();
      else await engine.settled();
    }
  }
  return changes;
}

/** A last engine, all alone, for as long as a schedule lasts and more; the endpoint stays on whatever happens. */
async function finish(test: TestEngine, webhookId: string): Promise<void> {
  const last = test.another();
  for (let turn = 0; turn < 14; turn += 1) {
    await test.app.ask("PATCH", `/api/webhooks/${webhookId}`, { key: test.key, json: { active: true } });
    await test.run(last);
    test.app.clock.advance(30 * HOUR);
    await test.ageClaims(30 * HOUR);
  }
}

/** On PostgreSQL all processes keep the pace of an endpoint together. */
import { sql } from "kysely";
import { expect, it, vi } from "vitest";
import { openTestEngine, type TestEngine } from "./engine.test-kit.ts";

vi.hoisted(() => (process.env["COFFER_TEST_DATABASE"] = "postgres"));

/** Sets when the endpoint's bucket is full again, from now. Milliseconds. */
async function fullIn({ deps: { database } }: TestEngine, milliseconds: number): Promise<void> {
  const at = sql`cast(extract(epoch from now()) * 1000000 as bigint) + ${milliseconds * 1000}`;
  const query = sql`update rates set full_at = ${at} where key like 'webhook %'`;
  expect(await database.run({ compile: () => query.compile(database.build) })).toBe(1);
}

/** What a process claims at once of an endpoint that has not answered it yet. */
const FIRST = 2;

it("what others have sent a process learns with its first claim, and waits for it", async () => {
  await using test = await openTestEngine({ environment: { SERVICE_WEBHOOK_ENDPOINT_RATE: "4" } });
  await test.endpoint();
  for (let count = 0; count < 12; count += 1) await test.change();
  await test.run();
  // Its own bucket, and no more: its clock stands still.
  expect(test.sent).toHaveLength(4);
  // As if it had been just now, however long this test takes.
  await fullIn(test, 30_000);
  const other = test.another();
  await test.run(other);
  expect(test.sent).toHaveLength(4 + FIRST);
  test.app.clock.advance(5_000);
  await test.run(other);
  expect(test.sent).toHaveLength(4 + FIRST);
  test.app.clock.advance(60_000);
  await test.run(other);
  expect(test.sent.length).toBeGreaterThan(4 + FIRST);
});

it("a count from before the clock of the database was set back holds up nobody", async () => {
  await using test = await openTestEngine({ environment: { SERVICE_WEBHOOK_ENDPOINT_RATE: "4" } });
  await test.endpoint();
  await test.change();
  await test.run();
  for (let count = 0; count < 8; count += 1) await test.change();
  await fullIn(test, 86_400_000);
  await test.run(test.another());
  expect(test.sent).toHaveLength(1 + 4);
});

import { describe, expect, it } from "vitest";
import { wrapped } from "../../../wrapped.test-kit.ts";
import type { Database, Queries } from "../../../ports/database.ts";
import { Dispatcher } from "./dispatch.ts";
import { openTestEngine, type TestEngine } from "./engine.test-kit.ts";
import { ofEachTest } from "../../../each.test-kit.ts";

const test = ofEachTest(openTestEngine);

async function lookUntilDone(dispatcher: Dispatcher): Promise<void> {
  while ((await dispatcher.poll()).more);
}

async function cursorOf({ deps, accountId }: TestEngine): Promise<number> {
  const { build } = deps.database;
  const query = build.selectFrom("webhook_cursors").select("sequence").where("account_id", "=", accountId);
  return (await deps.database.first(query))?.sequence ?? -1;
}

async function newestOf({ deps, accountId }: TestEngine): Promise<number> {
  const query = deps.database.build.selectFrom("accounts").select("sequence").where("id", "=", accountId);
  return (await deps.database.first(query))?.sequence ?? -1;
}

/** A database whose transactions break off at their n-th statement, as a process does that is killed there. */
function breakingAt(database: Database, statement: number): Database {
  let left = statement;
  const count = (): void => {
    left -= 1;
    if (left < 0) throw new Error("killed");
  };
  const counting = (queries: Queries): Queries => ({
    build: queries.build,
    all: async (query) => (count(), queries.all(query)),
    first: async (query) => (count(), queries.first(query)),
    run: async (query) => (count(), queries.run(query)),
  });
  return wrapped(database, { transaction: (work) => database.transaction((queries) => work(counting(queries))) });
}

describe("changes become deliveries", () => {
  it("once each and in their order, wherever the one before was killed", async () => {
    const first = await test.endpoint("/first");
    const second = await test.endpoint("/second");
    for (let count = 0; count < 5; count += 1) await test.change();
    for (let statement = 0; ; statement += 1) {
      const database = breakingAt(test.deps.database, statement);
      const looking = lookUntilDone(new Dispatcher({ ...test.deps, database }));
      const died = await looking.then(
        () => null,
        (error: unknown) => error,
      );
      if (died === null) break;
      expect(died).toMatchObject({ message: "killed" });
      expect(await test.deliveries(first)).toEqual([]);
    }
    await lookUntilDone(new Dispatcher(test.deps));
    for (const webhookId of [first, second]) {
      const sequences = (await test.deliveries(webhookId)).map(({ sequence }) => sequence).reverse();
      expect(sequences).toHaveLength(5);
      expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
    }
  });

  it("once, however many poll at the same time", async () => {
    const webhookId = await test.endpoint();
    const dispatchers = Array.from({ length: 5 }, () => new Dispatcher(test.deps));
    for (let round = 1; round <= 5; round += 1) {
      await test.change();
      await Promise.all(dispatchers.map(lookUntilDone));
      expect(await test.deliveries(webhookId)).toHaveLength(round);
    }
  });

  it("from the endpoint's making on, and only of kinds that somebody subscribed to", async () => {
    await test.change();
    const files = await test.endpoint("/files", ["file.uploaded"]);
    await test.change();
    await lookUntilDone(new Dispatcher(test.deps));
    expect(await test.deliveries(files)).toEqual([]);
    expect(await cursorOf(test)).toBe(await newestOf(test));
    const all = await test.endpoint("/all");
    await test.change();
    await lookUntilDone(new Dispatcher(test.deps));
    // Neither what was before it, nor its own registration, which is in the audit log and no event.
    expect((await test.deliveries(all)).map(({ event }) => event)).toEqual(["folder.created"]);
  });

  it("some hundred at a time, while others have their turn", async () => {
    const webhookId = await test.endpoint();
    for (let count = 0; count < 450; count += 1) await test.change();
    const dispatcher = new Dispatcher(test.deps);
    let polls = 1;
    while ((await dispatcher.poll()).more) polls += 1;
    expect(polls).toBeLessThan(10);
    const { build } = test.deps.database;
    const rows = await test.deps.database.all(
      build.selectFrom("webhook_deliveries").select("sequence").where("webhook_id", "=", webhookId),
    );
    expect(new Set(rows.map(({ sequence }) => sequence)).size).toBe(450);
    expect(rows).toHaveLength(450);
  });

  it("but for one that cannot be rendered, which is reported and holds up nothing", async () => {
    const webhookId = await test.endpoint();
    await test.change();
    await test.change();
    const { database } = test.deps;
    const broken = await newestOf(test);
    const spoil = database.build.updateTable("changes").set({ object_json: "{" }).where("sequence", "=", broken);
    await database.run(spoil);
    await test.change();
    const errors: string[] = [];
    const log = { info: () => undefined, error: (_: unknown, message: string) => void errors.push(message) };
    await lookUntilDone(new Dispatcher({ ...test.deps, log }));
    expect(errors).toHaveLength(1);
    expect((await test.deliveries(webhookId)).map(({ sequence }) => sequence)).not.toContain(broken);
    expect(await test.deliveries(webhookId)).toHaveLength(2);
  });
});

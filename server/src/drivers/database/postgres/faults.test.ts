import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDatabase, type OwnDatabase } from "../../../../../test/kit/postgres/databases.ts";
import { accountRow, insertAccount } from "../../../../../test/kit/rows.ts";
import { type Database, DatabaseUnavailableError, prepared, type Queries } from "../../../ports/database.ts";
import type { StorageFault } from "../../../ports/storage-faults.ts";
import { openPostgres } from "../postgres.ts";

let place: OwnDatabase;
beforeAll(async () => {
  place = await createDatabase("migrated");
});
afterAll(() => place[Symbol.asyncDispose]());

const HERE = "datname = current_database() AND pid <> pg_backend_pid()";
/** Waits that long for each session to end: what is sent to one afterwards cannot have been done. Milliseconds. */
const cutOff = (patience = 0): Promise<void> =>
  place.run(`SELECT pg_terminate_backend(pid, ${patience}) FROM pg_stat_activity WHERE ${HERE}`);

const raise = (queries: Queries, id: string): Promise<number> =>
  queries.run(
    queries.build
      .updateTable("accounts")
      .set((row) => ({ sequence: row("sequence", "+", 1) }))
      .where("id", "=", id),
  );

const read = async (database: Queries, id: string): Promise<number> =>
  (await database.first(database.build.selectFrom("accounts").select("sequence").where("id", "=", id)))?.sequence ?? -1;

describe("PostgreSQL that cuts connections off", () => {
  it("loses and doubles no act that was acknowledged, and is there again at once", async () => {
    await using database = openPostgres({ url: place.url });
    const { accountId } = await insertAccount(database);
    let [acknowledged, uncertain, isOver] = [0, 0, false];
    const writers = Array.from({ length: 8 }, async () => {
      while (!isOver)
        try {
          await database.act([accountId], (transaction) => raise(transaction, accountId));
          acknowledged += 1;
        } catch (error) {
          expect(error).toBeInstanceOf(DatabaseUnavailableError);
          if (error instanceof Error && error.message.includes("uncertain")) uncertain += 1;
        }
    });
    // The next cut waits for new acts, however slow the machine is: the writers have recovered from the one before.
    for (let times = 0; times < 8; times += 1) {
      const before = acknowledged;
      await expect.poll(() => acknowledged, { interval: 5, timeout: 60_000 }).toBeGreaterThan(before + 5);
      await cutOff();
    }
    const atTheLast = acknowledged;
    await expect.poll(() => acknowledged, { interval: 5, timeout: 60_000 }).toBeGreaterThan(atTheLast + 5);
    isOver = true;
    await Promise.all(writers);
    const committed = await read(database, accountId);
    expect(committed).toBeGreaterThanOrEqual(acknowledged);
    expect(committed).toBeLessThanOrEqual(acknowledged + uncertain);
  });

  it("ends no process by a connection that rests, and runs work again that had not asked for its commit", async () => {
    await using database = openPostgres({ url: place.url });
    const { accountId } = await insertAccount(database);
    await cutOff();
    expect(await read(database, accountId)).toBe(0);
    let runs = 0;
    await database.act([accountId], async (transaction) => {
      runs += 1;
      await raise(transaction, accountId);
      if (runs === 1) await cutOff(60_000);
    });
    expect([await read(database, accountId), runs <= 2]).toEqual([1, true]);
  });
});

const quotient = prepared((build, value: { by: number }) =>
  build.selectNoFrom(sql<number>`100 / ${value.by}::int`.as("value")),
);
const afterSleep = prepared((build, value: { seconds: number; id: number }) =>
  build.selectNoFrom(sql<number>`${value.id}::int + length(pg_sleep(${value.seconds}::float)::text)`.as("value")),
);

describe("look-ups that share a trip", () => {
  it("answer each its own, and an error ends its own alone", async () => {
    await using database = openPostgres({ url: place.url, connections: 2 });
    const by = Array.from({ length: 100 }, (_, at) => at % 10);
    const answers = await Promise.allSettled(by.map((each) => database.first(quotient(database, { by: each }))));
    expect(answers.map((answer) => (answer.status === "fulfilled" ? answer.value?.value : "failed"))).toEqual(
      by.map((each) => (each === 0 ? "failed" : Math.trunc(100 / each))),
    );
    expect(database.load).toMatchObject({ idle: database.load.open, waiting: 0 });
  });

  it("are asked again when their connection is cut off", async () => {
    await using database = openPostgres({ url: place.url, connections: 1 });
    const ids = Array.from({ length: 20 }, (_, id) => id);
    const asked = Promise.all(ids.map((id) => database.first(afterSleep(database, { id, seconds: 0.02 }))));
    await sleep(50);
    await cutOff();
    expect((await asked).map((row) => row?.value)).toEqual(ids);
    expect(database.load).toMatchObject({ idle: database.load.open, waiting: 0 });
  });
});

describe("PostgreSQL with limits", () => {
  it("refuses who waits too long for a connection, and serves the next", async () => {
    await using database = openPostgres({ url: place.url, connections: 2, connectTimeout: 2_000 });
    const { accountId } = await insertAccount(database);
    const { promise: over, resolve } = Promise.withResolvers<undefined>();
    const holders = [1, 2].map(() => database.transaction(() => over));
    await expect(read(database, accountId)).rejects.toMatchObject({ name: "DatabaseUnavailableError" });
    resolve(undefined);
    await Promise.all(holders);
    expect(await read(database, accountId)).toBe(0);
  });

  it("lets the acts of one account wait for each other without a connection", async () => {
    await using database = openPostgres({ url: place.url, connections: 2, connectTimeout: 1_000 });
    const [hot, other] = [(await insertAccount(database)).accountId, (await insertAccount(database)).accountId];
    const { promise: over, resolve } = Promise.withResolvers<undefined>();
    const first = database.act([hot], () => over);
    const behind = Array.from({ length: 20 }, () => database.act([hot], (transaction) => raise(transaction, hot)));
    await database.act([other], (transaction) => raise(transaction, other));
    expect(await read(database, other)).toBe(1);
    resolve(undefined);
    await Promise.all([first, ...behind]);
    expect(await read(database, hot)).toBe(20);
  });

  it("ends a statement, and a wait for a lock, that takes too long", async () => {
    await using database = openPostgres({ url: place.url, statementTimeout: 2_000, lockTimeout: 500 });
    const { accountId } = await insertAccount(database);
    const slow = sql`select pg_sleep(5)`;
    const sleeping = database.run({ compile: () => slow.compile(database.build) });
    await expect(sleeping).rejects.toMatchObject({ name: "DatabaseUnavailableError", busy: true });
    await database.act([accountId], async () => {
      await using other = openPostgres({ url: place.url, lockTimeout: 100 });
      const waiting = other.act([accountId], async () => undefined);
      await expect(waiting).rejects.toMatchObject({ name: "DatabaseUnavailableError", busy: true });
    });
  });

  it("cannot be reached where nobody listens, and says nothing of its password", async () => {
    await using database = openPostgres({ url: "postgres://coffer:secret-word@127.0.0.1:1/coffer" });
    const failure: unknown = await database.ping().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(DatabaseUnavailableError);
    expect(JSON.stringify(failure, Object.getOwnPropertyNames(failure))).not.toContain("secret-word");
  });
});

describe("PostgreSQL with a damaged page", () => {
  for (const code of ["XX001", "XX002"])
    it(`ends what meets it as unavailable, tells who watches, and goes on (${code})`, async () => {
      const faults: StorageFault[] = [];
      await using database = openPostgres({ url: place.url, onFault: (fault) => void faults.push(fault) });
      const text = `do $$ begin raise exception 'invalid page in block 3' using errcode = '${code}'; end $$`;
      const damaged = { compile: () => sql.raw(text).compile(database.build) };
      await expect(database.run(damaged)).rejects.toThrow(DatabaseUnavailableError);
      await expect(database.transaction((queries) => queries.run(damaged))).rejects.toThrow(DatabaseUnavailableError);
      expect(faults).toHaveLength(2);
      expect(faults[0]).toMatchObject({ kind: "damaged", query: text, examine: null });
      const { accountId } = await insertAccount(database);
      expect(await raise(database, accountId)).toBe(1);
    });
});

describe("transactions that meet", () => {
  it("run again when they wait for each other in a circle", async () => {
    await using database = openPostgres({ url: place.url });
    const ids = [(await insertAccount(database)).accountId, (await insertAccount(database)).accountId];
    const both = (order: readonly string[]) =>
      database.transaction(async (transaction) => {
        for (const id of order) {
          await raise(transaction, id);
          await sleep(20);
        }
      });
    await Promise.all([both(ids), both(ids.toReversed())]);
    expect(await Promise.all(ids.map((id) => read(database, id)))).toEqual([2, 2]);
  });

  it("are rolled back with an error when the work goes on after a statement that failed", async () => {
    await using database = openPostgres({ url: place.url });
    const { accountId } = await insertAccount(database);
    const work = database.transaction(async (transaction) => {
      const twice = transaction.build.insertInto("accounts").values(accountRow({ id: accountId }));
      await expect(transaction.run(twice)).rejects.toMatchObject({ kind: "unique" });
    });
    await expect(work).rejects.toThrow("rolled back");
  });
});

describe("values", () => {
  it("of numbers that are not exact are refused, and lists may be empty", async () => {
    await using database = openPostgres({ url: place.url });
    const large = sql<{ value: number }>`select 9007199254740993::bigint as value`;
    await expect(database.first({ compile: () => large.compile(database.build) })).rejects.toThrow(RangeError);
    const none = database.build.selectFrom("accounts").select("id");
    expect(await database.all(none.where("id", "in", []))).toEqual([]);
    expect((await database.all(none.where("id", "not in", []))).length).toBeGreaterThan(0);
  });
});

const byId = prepared((build, value: { id: string }) =>
  build.selectFrom("accounts").select("id").where("id", "=", value.id),
);

it("keeps prepared statements by name, and none behind a pooler in transaction mode", async () => {
  const names = async (database: Database) => {
    const { accountId: id } = await insertAccount(database);
    await database.first(byId(database, { id }));
    const kept = sql<{ name: string }>`select name from pg_prepared_statements`;
    return (await database.all({ compile: () => kept.compile(database.build) })).length;
  };
  await using sessions = openPostgres({ url: place.url, connections: 1 });
  expect(await names(sessions)).toBeGreaterThan(0);
  await using pooled = openPostgres({ url: place.url, connections: 1, sessions: false });
  expect(await names(pooled)).toBe(0);
});

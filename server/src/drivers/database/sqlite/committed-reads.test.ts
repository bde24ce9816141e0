import { join } from "node:path";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { migrate } from "../../../schema/migrate.ts";
import { type Database, prepared } from "../../../ports/database.ts";
import { openSqlite } from "../sqlite.ts";

const rememberedRow = prepared(
  (build, value: { key: string }) => build.selectFrom("blob_deletions").selectAll().where("blob_key", "=", value.key),
  { remembered: true, onArrival: true },
);
const plainRow = prepared((build, value: { key: string }) =>
  build.selectFrom("blob_deletions").selectAll().where("blob_key", "=", value.key),
);

const KEY = "a-blob-of-the-test";
let directory: string;
let ours: Database;
let others: Database;

beforeEach(async () => {
  directory = makeDirectory();
  const path = join(directory, "coffer.sqlite");
  ours = await openSqlite({ path });
  await migrate(ours);
  others = await openSqlite({ path });
});

afterEach(async () => {
  await ours[Symbol.asyncDispose]();
  await others[Symbol.asyncDispose]();
});

function write(database: Database, notBefore: number): Promise<number> {
  return database.run(
    database.build
      .insertInto("blob_deletions")
      .values({ blob_key: KEY, not_before: notBefore, account_id: null, bytes: 0, reason: "upload" })
      .onConflict((conflict) => conflict.column("blob_key").doUpdateSet({ not_before: notBefore })),
  );
}

async function seen(database: Database): Promise<(number | null)[]> {
  const rows = [
    await database.first(rememberedRow(database, { key: KEY })),
    await database.first(plainRow(database, { key: KEY })),
  ];
  return rows.map((row) => row?.not_before ?? null);
}

describe("reads of committed state", () => {
  it("see this process's own commit at once, within the same turn of the loop", async () => {
    expect(await seen(ours)).toEqual([null, null]);
    for (const value of [1, 2, 3]) {
      await write(ours, value);
      expect(await seen(ours)).toEqual([value, value]);
    }
  });

  it("see a transaction of this process at once when it has committed, and nothing of it before", async () => {
    await write(ours, 1);
    await ours.transaction(async (transaction) => {
      await transaction.run(transaction.build.updateTable("blob_deletions").set({ not_before: 2 }));
      expect(await seen(ours)).toEqual([1, 1]);
    });
    expect(await seen(ours)).toEqual([2, 2]);
  });

  it("see another connection's commit with the next turn of the loop", async () => {
    await write(ours, 1);
    expect(await seen(ours)).toEqual([1, 1]);
    await write(others, 2);
    await turnOfTheLoop();
    await turnOfTheLoop();
    expect(await seen(ours)).toEqual([2, 2]);
  });

  it("see another connection's commit at once where no request has arrived: a job's read begins no snapshot", async () => {
    await write(ours, 1);
    expect((await ours.first(plainRow(ours, { key: KEY })))?.not_before).toBe(1);
    expect(await ours.all(plainRow(ours, { key: KEY }))).toHaveLength(1);
    await write(others, 2);
    expect((await ours.first(plainRow(ours, { key: KEY })))?.not_before).toBe(2);
  });

  it("agree with each other within a turn, whether remembered or not", async () => {
    await write(ours, 1);
    const [before] = await seen(ours);
    await write(others, 2);
    const after = await seen(ours);
    expect(new Set(after).size).toBe(1);
    expect(after[0]).toBeGreaterThanOrEqual(before ?? 0);
  });

  it("hand out remembered rows that nobody can change for the next reader", async () => {
    await write(ours, 1);
    const row = await ours.first(rememberedRow(ours, { key: KEY }));
    expect(Object.isFrozen(row)).toBe(true);
    expect(await ours.first(rememberedRow(ours, { key: KEY }))).toBe(row);
  });

  it("remember that there is no row, until there is one", async () => {
    expect(await ours.first(rememberedRow(ours, { key: KEY }))).toBeNull();
    await write(others, 5);
    await turnOfTheLoop();
    await turnOfTheLoop();
    expect((await ours.first(rememberedRow(ours, { key: KEY })))?.not_before).toBe(5);
  });
});

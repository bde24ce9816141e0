import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { insertAccount } from "../../../../../test/kit/rows.ts";
import { migrate } from "../../../schema/migrate.ts";
import { type Database, DatabaseUnavailableError, type Queries } from "../../../ports/database.ts";
import { openSqlite } from "../sqlite.ts";
import { openSnapshot } from "./snapshot.ts";

let directory: string;
let database: Database;
const path = () => join(directory, "coffer.sqlite");
beforeEach(async () => {
  directory = makeDirectory();
  database = await openSqlite({ path: path(), reserveBytes: 0 });
  await migrate(database);
});
afterEach(async () => {
  await database[Symbol.asyncDispose]();
});

const accountsSeenBy = async (queries: Queries) =>
  (await queries.all(queries.build.selectFrom("accounts").selectAll())).length;

describe("a snapshot", () => {
  it("sees one state until it is renewed, whatever is committed meanwhile", async () => {
    using snapshot = openSnapshot(path());
    expect(await accountsSeenBy(snapshot)).toBe(0);
    await insertAccount(database);
    expect(await accountsSeenBy(snapshot)).toBe(0);
    snapshot.renew();
    expect(await accountsSeenBy(snapshot)).toBe(1);
  });

  it("cannot write", async () => {
    using snapshot = openSnapshot(path());
    await expect(snapshot.run(snapshot.build.deleteFrom("accounts"))).rejects.toThrow("only read");
  });

  it("makes no database where there is none", () => {
    expect(() => openSnapshot(join(directory, "other.sqlite"))).toThrow(DatabaseUnavailableError);
  });
});

it("a connection reads columns that another one adds, also in statements that it prepared before", async () => {
  await insertAccount(database);
  const all = database.build.selectFrom("accounts").selectAll();
  const before = await database.first<object>(all);
  using other = new DatabaseSync(path());
  other.exec("ALTER TABLE accounts ADD COLUMN more TEXT NOT NULL DEFAULT 'm'");
  expect(await database.first(all)).toEqual({ ...before, more: "m" });
  expect(await database.all(all)).toEqual([{ ...before, more: "m" }]);
});

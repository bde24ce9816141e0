import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as turnOfTheLoop, setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { migrate } from "../../../schema/migrate.ts";
import { ofEachTest } from "../../../each.test-kit.ts";
import { openSqlite } from "../sqlite.ts";

const place = ofEachTest(async () => ({ path: join(makeDirectory(), "coffer.db") }));

test("a process that opens a database which another is just making waits for it", async () => {
  const other = new DatabaseSync(place.path);
  other.exec("BEGIN EXCLUSIVE; CREATE TABLE made (here)");
  const opening = openSqlite({ path: place.path, reserveBytes: 0 });
  // Each attempt holds the loop for the 25 ms of SQLite's own patience: some are over by then.
  for (let turns = 0; turns < 3; turns += 1) await Promise.race([opening, sleep(1).then(() => turnOfTheLoop())]);
  other.exec("COMMIT");
  other.close();
  await using database = await opening;
  await migrate(database);
});

test("a process waits for another one's migration, however long that takes", async () => {
  const options = { path: place.path, reserveBytes: 0, busyAttempts: 1 };
  await using one = await openSqlite(options);
  await using other = await openSqlite(options);
  const { promise: released, resolve: release } = Promise.withResolvers<undefined>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<undefined>();
  const migrating = one.migration(async () => {
    begin(undefined);
    await released;
  });
  await begun;
  const order: string[] = [];
  const waiting = migrate(other).then(() => order.push("other"));
  // With this patience, whoever writes gives up at once.
  await using impatient = await openSqlite(options);
  await expect(impatient.transaction(() => Promise.resolve())).rejects.toThrow("locked");
  order.push("one");
  release(undefined);
  await Promise.all([migrating, waiting]);
  expect(order).toEqual(["one", "other"]);
});

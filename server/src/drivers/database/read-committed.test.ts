/** The double that races run on does what it says of PostgreSQL; test/suites/database-races.ts rests on it. */
import { join } from "node:path";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import { openTestSqlite } from "../../storage.test-kit.ts";
import { ConstraintError, type Database, type Queries } from "../../ports/database.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { openReadCommitted } from "./read-committed.test-kit.ts";
import { accountRow, folderRow, insertAccount, vaultRow } from "../../../../test/kit/rows.ts";

let database: Database;
let failures = 0;
beforeEach(async () => {
  const directory = makeDirectory();
  await (await openTestSqlite(directory))[Symbol.asyncDispose]();
  failures = 0;
  database = openReadCommitted(join(directory, "coffer.sqlite"), { fails: () => failures-- > 0 });
  return () => database[Symbol.asyncDispose]();
});

/** A transaction that is open until it is ended. */
async function begin(
  run: (work: (queries: Queries) => Promise<void>) => Promise<void> = (work) => database.transaction(work),
) {
  const began = Promise.withResolvers<Queries>();
  const ending = Promise.withResolvers<undefined>();
  const over = run(async (queries) => {
    began.resolve(queries);
    await ending.promise;
  });
  over.catch(() => undefined);
  const queries = await began.promise;
  return {
    queries,
    commit: () => (ending.resolve(undefined), over),
    rollBack: () => (ending.reject(new Error("rolled back")), over.catch(() => undefined)),
  };
}

/** Whether it is still open after some turns of the event loop. */
async function waits(promise: Promise<unknown>): Promise<boolean> {
  let isOpen = true;
  promise.catch(() => undefined).finally(() => (isOpen = false));
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  return isOpen;
}

const nameOf = async (queries: Queries, id: string) =>
  (await queries.first(queries.build.selectFrom("accounts").select("name").where("id", "=", id)))?.name;
const setName = (queries: Queries, id: string, name: string) =>
  queries.run(queries.build.updateTable("accounts").set({ name }).where("id", "=", id));
const takeName = (queries: Queries, id: string, name: string) =>
  queries.run(queries.build.updateTable("accounts").set({ name }).where("id", "=", id).where("name", "is", null));

describe("a double of READ COMMITTED", () => {
  it("shows what is committed at each statement and what the transaction wrote, and nothing else", async () => {
    const { accountId: id } = await insertAccount(database);
    const [one, two] = [await begin(), await begin()];
    await setName(one.queries, id, "one");
    expect(await nameOf(one.queries, id)).toBe("one");
    expect([await nameOf(two.queries, id), await nameOf(database, id)]).toEqual([null, null]);
    await one.commit();
    expect([await nameOf(two.queries, id), await nameOf(database, id)]).toEqual(["one", "one"]);
    await two.commit();
  });

  it("has who writes a locked row wait, and ask its condition again", async () => {
    for (const end of ["commit", "rollBack"] as const) {
      const { accountId: id } = await insertAccount(database);
      const [one, two] = [await begin(), await begin()];
      await takeName(one.queries, id, "one");
      const taking = takeName(two.queries, id, "two");
      expect(await waits(taking)).toBe(true);
      await one[end]();
      expect(await taking).toBe(end === "commit" ? 0 : 1);
      await two.commit();
      expect(await nameOf(database, id)).toBe(end === "commit" ? "one" : "two");
    }
  });

  it("has who inserts a value wait for who inserted it, or is giving it up", async () => {
    const account = accountRow();
    const add = (queries: Queries) =>
      queries.run(queries.build.insertInto("accounts").values({ ...accountRow(), email: account.email }));
    const [one, two] = [await begin(), await begin()];
    await add(one.queries);
    const adding = add(two.queries);
    expect(await waits(adding)).toBe(true);
    await one.commit();
    await expect(adding).rejects.toMatchObject({ kind: "unique" });
    await expect(two.commit()).rejects.toThrow("cannot be committed");
    const three = await begin();
    await three.queries.run(three.queries.build.deleteFrom("accounts").where("email", "=", account.email));
    const again = add(database);
    expect(await waits(again)).toBe(true);
    await three.commit();
    expect(await again).toBe(1);
  });

  it("has a reference and the deletion of what it refers to wait for each other", async () => {
    const { accountId, vaultId } = await insertAccount(database);
    const folder = (queries: Queries) =>
      queries.run(queries.build.insertInto("folders").values(folderRow({ account_id: accountId, vault_id: vaultId })));
    const remove = (queries: Queries) => queries.run(queries.build.deleteFrom("vaults").where("id", "=", vaultId));
    for (const [first, second] of [
      [folder, remove],
      [remove, folder],
    ] as const) {
      const one = await begin();
      await first(one.queries);
      const waiting = second(database);
      expect(await waits(waiting)).toBe(true);
      await one.rollBack();
      expect(await waiting).toBe(1);
      await database.run(database.build.deleteFrom("folders"));
      await database.run(database.build.deleteFrom("vaults"));
      await database.run(database.build.insertInto("vaults").values(vaultRow({ id: vaultId, account_id: accountId })));
    }
    const one = await begin();
    await remove(one.queries);
    const waiting = folder(database);
    await one.commit();
    await expect(waiting).rejects.toMatchObject({ kind: "reference" });
  });

  it("lets acts of one account come one after the other, and all else go on", async () => {
    const [{ accountId: id }, { accountId: other }] = [await insertAccount(database), await insertAccount(database)];
    const act = await begin((work) => database.act([id], work));
    const another = database.act([other, id], (queries, accounts) => setName(queries, id, `${accounts.length}`));
    expect(await waits(another)).toBe(true);
    expect(await database.run(database.build.insertInto("vaults").values(vaultRow({ account_id: id })))).toBe(1);
    expect(await waits(setName(database, id, "beside"))).toBe(true);
    let inside = 0;
    const counted = Array.from({ length: 3 }, () =>
      database.act([id], async (queries) => {
        inside += 1;
        await setName(queries, id, "counted");
        expect(inside).toBe(1);
        inside -= 1;
      }),
    );
    await waits(Promise.resolve());
    await act.commit();
    await Promise.all([another, ...counted]);
  });

  it("rolls back and runs again who closes a circle of waiting, and a commit that failed", async () => {
    const [{ accountId: a }, { accountId: b }] = [await insertAccount(database), await insertAccount(database)];
    let runs = 0;
    const both = (first: string, second: string) =>
      database.transaction(async (queries) => {
        runs += 1;
        await setName(queries, first, "first");
        await waits(Promise.resolve());
        await setName(queries, second, "second");
      });
    await Promise.all([both(a, b), both(b, a)]);
    expect(runs).toBe(3);
    expect([await nameOf(database, a), await nameOf(database, b)].sort()).toEqual(["first", "second"]);
    failures = 1;
    await both(a, b);
    expect(runs).toBe(5);
  });

  it("takes no statement after one that failed, and no read beside the own transaction", async () => {
    const { accountId: id } = await insertAccount(database);
    const work = database.transaction(async (queries) => {
      const twice = queries.build.insertInto("accounts").values(accountRow({ id }));
      await expect(queries.run(twice)).rejects.toThrow(ConstraintError);
      await setName(queries, id, "later");
    });
    await expect(work).rejects.toThrow("takes no other statement");
    await expect(database.transaction(() => nameOf(database, id))).rejects.toThrow("beside the own");
    expect(await nameOf(database, id)).toBe(null);
  });
});

import { migrate } from "@coffer/server/schema/migrate";
import { ConstraintError, type Database, type Queries } from "@coffer/server/ports/database";
import { setImmediate as turnOfTheLoop, setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { accountRow, fileRow, insertAccount, vaultRow } from "../kit/rows.ts";
import { databaseTests, type OpenMedium } from "./database-fixture.ts";

export function describeTransactions(openMedium: OpenMedium): void {
  const test = databaseTests(openMedium);

  describe("transactions", () => {
    test("commit what their work did and answer its result", async (database) => {
      const result = await database.transaction(async (transaction) => insertAccount(transaction));
      expect(await countAccounts(database)).toBe(1);
      expect(result.accountId).toMatch(/^[0-9a-f-]{36}$/);
    });

    test("roll back when their work rejects, and pass its error on", async (database) => {
      const failure = new Error("changed my mind");
      const work = database.transaction(async (transaction) => {
        await insertAccount(transaction);
        throw failure;
      });
      await expect(work).rejects.toBe(failure);
      expect(await countAccounts(database)).toBe(0);
      await database.transaction(insertAccount);
      expect(await countAccounts(database)).toBe(1);
    });

    test("show their changes to nobody before they commit", async (database) => {
      await database.transaction(async (transaction) => {
        await insertAccount(transaction);
        expect(await countAccounts(database)).toBe(0);
        const seen = await transaction.all(transaction.build.selectFrom("accounts").select("id"));
        expect(seen).toHaveLength(1);
      });
      expect(await countAccounts(database)).toBe(1);
    });

    test("refuse a write past their Queries, which would wait for them for ever", async (database) => {
      const work = database.transaction(() => database.run(database.build.insertInto("accounts").values(accountRow())));
      await expect(work).rejects.toThrow("Queries");
      const nested = database.transaction(() => database.transaction(insertAccount));
      await expect(nested).rejects.toThrow("Queries");
      await insertAccount(database);
    });

    test("end with their work: their Queries are of no use afterwards", async (database) => {
      const queries = await database.transaction((transaction) => Promise.resolve(transaction));
      await expect(queries.all(queries.build.selectFrom("accounts").select("id"))).rejects.toThrow("over");
    });
    describeLongWork(openMedium);
    describeRaces(openMedium);
    describeConstraints(openMedium);
  });
}

/** Of many statements, or of many transactions behind each other: neither waits for anything that would let others have a turn. */
function describeLongWork(openMedium: OpenMedium): void {
  const test = databaseTests(openMedium);

  test("let others read meanwhile, however much one does", async (database) => {
    const { accountId } = await insertAccount(database);
    let reads = 0;
    const seen = new Set<string | null>();
    const readers = actInTurns(async () => {
      seen.add(await readName(database, accountId));
      reads += 1;
    });
    const duringWork = await database.transaction(async (transaction) => {
      await renameOften(transaction, accountId, 3_000);
      return reads;
    });
    await readers.end();
    expect(duringWork).toBeGreaterThan(2);
    expect([...seen].filter((name) => name !== "name 2999")).toEqual([null]);
  });

  test("let others read and write meanwhile, however many come one behind the other", async (database) => {
    const { accountId } = await insertAccount(database);
    let writes = 0;
    const writers = actInTurns(async () => {
      await insertAccount(database);
      writes += 1;
    });
    for (let round = 0; round < 40; round += 1)
      await database.transaction((transaction) => renameOften(transaction, accountId, 100));
    const duringWork = writes;
    await writers.end();
    expect(duringWork).toBeGreaterThan(2);
  });
}

/** Does something whenever the event loop has a turn for it, until it is ended. */
function actInTurns(act: () => Promise<void>): { end(): Promise<void> } {
  let isOver = false;
  const acting = (async () => {
    while (!isOver) {
      await turnOfTheLoop();
      await act();
    }
  })();
  return {
    end: () => {
      isOver = true;
      return acting;
    },
  };
}

async function renameOften(queries: Queries, accountId: string, times: number): Promise<void> {
  for (let index = 0; index < times; index += 1) {
    const name = `name ${index}`;
    await queries.run(queries.build.updateTable("accounts").set({ name }).where("id", "=", accountId));
  }
}

async function readName(database: Database, id: string): Promise<string | null> {
  const query = database.build.selectFrom("accounts").select("name").where("id", "=", id);
  return (await database.first(query))?.name ?? null;
}

function describeRaces(openMedium: OpenMedium): void {
  const test = databaseTests(openMedium);

  test("let exactly one of 50 conditional updates win", async (database) => {
    for (let round = 0; round < 5; round += 1) {
      const { accountId } = await insertAccount(database);
      const claim = (_: unknown, rival: number) =>
        database.transaction((transaction) =>
          transaction.run(
            transaction.build
              .updateTable("accounts")
              .set({ name: `rival ${rival}` })
              .where("id", "=", accountId)
              .where("name", "is", null),
          ),
        );
      const changed = await Promise.all(Array.from({ length: 50 }, claim));
      expect(changed.filter((count) => count === 1)).toHaveLength(1);
    }
  });

  it("wait for another connection's transaction instead of failing", async () => {
    await using medium = await openMedium();
    await using one = await medium.open();
    await migrate(one);
    await using other = await medium.open();
    const both = [one, other].flatMap((database) =>
      Array.from({ length: 10 }, () =>
        database.transaction(async (transaction) => {
          await insertAccount(transaction);
          await sleep(2);
        }),
      ),
    );
    await Promise.all(both);
    expect(await countAccounts(one)).toBe(20);
  });
}

function describeConstraints(openMedium: OpenMedium): void {
  const test = databaseTests(openMedium);

  test("reject with ConstraintError on a unique, check or foreign key, say which, and can be used again", async (database) => {
    const { accountId, vaultId } = await insertAccount(database);
    const account = accountRow();
    const vault = vaultRow({ account_id: accountId });
    const file = fileRow({ account_id: accountId, vault_id: vaultId });
    const { build } = database;
    for (const query of [build.insertInto("accounts").values(account), build.insertInto("vaults").values(vault)])
      await database.run(query);
    const email = { ...accountRow(), email: account.email };
    const name = { ...vaultRow({ account_id: accountId }), name: vault.name };
    const violations = [
      [build.insertInto("accounts").values(email), "unique", "accounts_email_key"],
      [build.insertInto("vaults").values(name), "unique", "vaults_live_name"],
      [build.insertInto("vaults").values({ ...vault, name: "other" }), "unique", "vaults_pkey"],
      [build.updateTable("accounts").set({ usage_bytes: -1 }), "check", null],
      [build.insertInto("files").values({ ...file, vault_id: "none" }), "reference", null],
      [build.deleteFrom("accounts").where("id", "=", accountId), "reference", null],
    ] as const;
    for (const [violation, kind, constraint] of violations) {
      for (const run of [database.run.bind(database), inTransaction(database)]) {
        const error = await run(violation).then(
          () => null,
          (reason: unknown) => reason,
        );
        expect(error).toBeInstanceOf(ConstraintError);
        expect(error).toMatchObject({ kind, constraint });
      }
    }
    expect(await database.run(build.insertInto("files").values(file))).toBe(1);
    const again = { ...fileRow({ account_id: accountId, vault_id: vaultId }), name: file.name };
    const taken = { kind: "unique", constraint: "files_live_name" };
    await expect(database.run(build.insertInto("files").values(again))).rejects.toMatchObject(taken);
  });
}

function inTransaction(database: Database): Queries["run"] {
  return (query) => database.transaction((transaction) => transaction.run(query));
}

async function countAccounts(database: Database): Promise<number> {
  return (await database.all(database.build.selectFrom("accounts").select("id"))).length;
}

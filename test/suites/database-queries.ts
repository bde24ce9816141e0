import { migrate } from "@coffer/server/schema/migrate";
import { prepared } from "@coffer/server/ports/database";
import { describe, expect, it } from "vitest";
import { accountRow, insertAccount, vaultRow } from "../kit/rows.ts";
import { databaseTests, type OpenMedium } from "./database-fixture.ts";

const byEmail = prepared((build, value: { email: string }) =>
  build.selectFrom("accounts").selectAll().where("email", "=", value.email),
);

export function describeQueries(openMedium: OpenMedium): void {
  const test = databaseTests(openMedium);

  describe("queries", () => {
    test("give back rows as they were written", async (database) => {
      const account = accountRow({
        name: "Ünïcode 🗄 'quoted'; --",
        usage_bytes: 2 ** 52 + 1,
        created_at: 1_795_000_000_123,
      });
      expect(await database.run(database.build.insertInto("accounts").values(account))).toBe(1);
      const rows = await database.all(database.build.selectFrom("accounts").selectAll());
      // A database brought up from an older schema may have columns that nobody reads any more.
      expect(rows).toEqual([expect.objectContaining(account)]);
      expect(typeof rows[0]?.usage_bytes).toBe("number");
    });

    test("answer null where there is no row, and 0 where none changed", async (database) => {
      expect(await database.first(byEmail(database, { email: "nobody@example.com" }))).toBeNull();
      expect(await database.all(database.build.selectFrom("vaults").selectAll())).toEqual([]);
      expect(await database.run(database.build.deleteFrom("vaults").where("id", "=", "none"))).toBe(0);
    });

    test("fill the values of a prepared query in at each use, in and out of a transaction", async (database) => {
      const accounts = [accountRow(), accountRow(), accountRow()];
      for (const account of accounts) await database.run(database.build.insertInto("accounts").values(account));
      const check = async (queries: Parameters<typeof byEmail>[0]) => {
        for (const { email, id } of accounts) expect((await queries.first(byEmail(queries, { email })))?.id).toBe(id);
      };
      await check(database);
      await database.transaction(check);
    });

    test("answer the rows that a statement returns", async (database) => {
      const { accountId } = await insertAccount(database);
      const rename = database.build.updateTable("accounts").set({ name: "New" }).where("id", "=", accountId);
      expect((await database.first(rename.returning(["id", "name"])))?.name).toBe("New");
      const removed = await database.all(database.build.deleteFrom("vaults").returning("account_id"));
      expect(removed.map((row) => row.account_id)).toEqual([accountId]);
    });

    test("only run through Queries", async (database) => {
      await expect(database.build.selectFrom("accounts").selectAll().execute()).rejects.toThrow("through Queries");
    });

    test("answer a ping", async (database) => {
      await expect(database.ping()).resolves.toBeUndefined();
    });

    it("see at once what another connection committed", async () => {
      await using medium = await openMedium();
      await using one = await medium.open();
      await migrate(one);
      await using other = await medium.open();
      const { accountId } = await insertAccount(other);
      await other.run(other.build.insertInto("vaults").values(vaultRow({ account_id: accountId })));
      expect(await one.all(one.build.selectFrom("vaults").selectAll())).toHaveLength(2);
    });
  });
}

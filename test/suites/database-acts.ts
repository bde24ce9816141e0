/** Acts of accounts, snapshots, and the lock of the schema. */
import { migrate } from "@coffer/server/schema/migrate";
import type { Database } from "@coffer/server/ports/database";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { insertAccount } from "../kit/rows.ts";
import { type OpenMedium, databaseTests } from "./database-fixture.ts";

export function describeActs(openMedium: OpenMedium): void {
  const test = databaseTests(openMedium);

  describe("acts", () => {
    test("are given the rows of their accounts in the order of the ids, once each, without those that are not there", async (database) => {
      const made = [await insertAccount(database), await insertAccount(database), await insertAccount(database)];
      const [first = "", second = "", third = ""] = made.map(({ accountId }) => accountId).sort();
      const wanted = [third, "nobody", first, third];
      const given = await database.act(wanted, (_, accounts) => Promise.resolve(accounts.map(({ id }) => id)));
      expect(given).toEqual([first, third]);
      expect(await database.act([second], (_, [row]) => Promise.resolve(row))).toMatchObject({ id: second });
    });

    test("roll back when their work rejects, and end with it", async (database) => {
      const { accountId } = await insertAccount(database);
      const failure = new Error("changed my mind");
      const work = database.act([accountId], async (transaction) => {
        await transaction.run(transaction.build.updateTable("accounts").set({ sequence: 7 }));
        throw failure;
      });
      await expect(work).rejects.toBe(failure);
      expect(await readSequence(database, accountId)).toBe(0);
      const queries = await database.act([accountId], (transaction) => Promise.resolve(transaction));
      await expect(queries.all(queries.build.selectFrom("accounts").select("id"))).rejects.toThrow("over");
    });

    it("of one account come one after the other, however their work pauses, over two connections", async () => {
      await onTwo(openMedium, async (one, other) => {
        const { accountId } = await insertAccount(one);
        const increment = (_: unknown, index: number): Promise<number> =>
          (index % 2 === 0 ? one : other).act([accountId], async (transaction, [account]) => {
            await sleep(1);
            const { sequence = 0 } = account ?? {};
            const next = transaction.build.updateTable("accounts").set({ sequence: sequence + 1 });
            await transaction.run(next.where("id", "=", accountId));
            return sequence;
          });
        const seen = await Promise.all(Array.from({ length: 30 }, increment));
        expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, index) => index));
      });
    });

    it("of two accounts do not wait for each other for ever, whichever is named first", async () => {
      await onTwo(openMedium, async (one, other) => {
        const ids = [(await insertAccount(one)).accountId, (await insertAccount(one)).accountId];
        const act = (database: Database, accountIds: readonly string[]) =>
          database.act(accountIds, async (transaction, accounts) => {
            for (const { id, sequence } of accounts) {
              const next = transaction.build.updateTable("accounts").set({ sequence: sequence + 1 });
              await transaction.run(next.where("id", "=", id));
              await sleep(1);
            }
          });
        const acts = Array.from({ length: 10 }, () => [act(one, ids), act(other, ids.toReversed())]);
        await Promise.all(acts.flat());
        for (const id of ids) expect(await readSequence(one, id)).toBe(20);
      });
    });
  });
  describeSnapshots(openMedium);
  describeMigrations(openMedium);
}

function describeSnapshots(openMedium: OpenMedium): void {
  const test = databaseTests(openMedium);

  describe("snapshots", () => {
    it("see one state, of before their first read, whoever commits meanwhile", async () => {
      await onTwo(openMedium, async (one, other) => {
        const { accountId } = await insertAccount(one);
        const seen = await one.snapshot(async (queries) => {
          const before: number[] = [];
          for (const writer of [one, other]) {
            await insertAccount(writer);
            await writer.run(writer.build.updateTable("accounts").set({ sequence: 5 }));
            const rows = await queries.all(queries.build.selectFrom("accounts").select(["id", "sequence"]));
            before.push(rows.length, rows[0]?.sequence ?? -1);
          }
          return before;
        });
        expect(seen).toEqual([1, 0, 1, 0]);
        expect(await readSequence(one, accountId)).toBe(5);
      });
    });

    test("do not write, and end with their work", async (database) => {
      const { accountId } = await insertAccount(database);
      const writing = database.snapshot((queries) =>
        queries.run(queries.build.updateTable("accounts").set({ sequence: 1 })),
      );
      await expect(writing).rejects.toThrow();
      expect(await readSequence(database, accountId)).toBe(0);
      const queries = await database.snapshot((given) => Promise.resolve(given));
      await expect(queries.all(queries.build.selectFrom("accounts").select("id"))).rejects.toThrow("over");
    });
  });
}

function describeMigrations(openMedium: OpenMedium): void {
  describe("migrations", () => {
    it("of two who begin at once on an empty database are applied once", async () => {
      await using medium = await openMedium();
      await using one = await medium.open();
      await using other = await medium.open();
      const applied: string[] = [];
      const counting = (name: string) => ({
        version: 1,
        name: "counting",
        async up() {
          await sleep(5);
          applied.push(name);
        },
      });
      await Promise.all([migrate(one, [counting("one")]), migrate(other, [counting("other")])]);
      expect(applied).toHaveLength(1);
    });
  });
}

/** Two connections to one database with the newest schema. */
async function onTwo(openMedium: OpenMedium, check: (one: Database, other: Database) => Promise<void>): Promise<void> {
  await using medium = await openMedium();
  await using one = await medium.open();
  await using other = await medium.open();
  await migrate(one);
  await check(one, other);
}

async function readSequence(database: Database, id: string): Promise<number | null> {
  const query = database.build.selectFrom("accounts").select("sequence").where("id", "=", id);
  return (await database.first(query))?.sequence ?? null;
}

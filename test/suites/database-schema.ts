import { MIGRATIONS, migrate } from "@coffer/server/schema/migrate";
import type { Migration } from "@coffer/server/schema/migration";
import { ConstraintError } from "@coffer/server/ports/database";
import { describe, expect, it } from "vitest";
import { fileRow, folderRow, insertAccount, uploadRow } from "../kit/rows.ts";
import { databaseTests, type OpenMedium } from "./database-fixture.ts";

export function describeSchema(openMedium: OpenMedium): void {
  const test = databaseTests(openMedium);

  describe("schema", () => {
    it("is made once, also by several processes at a time", async () => {
      await using medium = await openMedium();
      const processes = await Promise.all([medium.open(), medium.open(), medium.open()]);
      try {
        await Promise.all(processes.map((database) => migrate(database)));
        for (const database of processes) await migrate(database);
      } finally {
        for (const database of processes) await database[Symbol.asyncDispose]();
      }
    });

    it("is left alone by a server that is older than it", async () => {
      await using medium = await openMedium();
      await using database = await medium.open();
      const nothing: Migration = { version: 9_999, name: "of the future", up: () => Promise.resolve() };
      await migrate(database, [...MIGRATIONS, nothing]);
      await expect(migrate(database)).rejects.toThrow(/The database has schema 9999, .*at least as new/);
    });

    it("of before the first release is not brought up to date", async () => {
      await using medium = await openMedium();
      await using database = await medium.open();
      await migrate(database, [{ version: 41, name: "database origin", up: () => Promise.resolve() }]);
      await expect(migrate(database)).rejects.toThrow(/^The database has schema 41, .*begin with a new database/);
    });

    it("is as before when a step fails half-way", async () => {
      await using medium = await openMedium();
      await using database = await medium.open();
      const broken: Migration = {
        version: 1,
        name: "broken",
        async up(queries) {
          await queries.run(queries.build.schema.createTable("half").addColumn("id", "text"));
          throw new Error("half-way");
        },
      };
      await expect(migrate(database, [broken])).rejects.toThrow("half-way");
      await migrate(database, [{ ...broken, up: (queries) => broken.up(queries).catch(() => undefined) }]);
    });

    test("holds one live item of a name per place, and any number in the trash", async (database) => {
      const { accountId, vaultId } = await insertAccount(database);
      const place = { account_id: accountId, vault_id: vaultId, name: "same" };
      const folder = folderRow(place);
      await database.run(database.build.insertInto("folders").values(folder));
      const again = database.build.insertInto("folders").values(folderRow(place));
      await expect(database.run(again)).rejects.toThrow(ConstraintError);
      for (const folder_id of [null, folder.id]) {
        const file = () => ({ ...fileRow(place), folder_id });
        await database.run(database.build.insertInto("files").values(file()));
        await expect(database.run(database.build.insertInto("files").values(file()))).rejects.toThrow(ConstraintError);
        for (const trashed_at of [5, 5, 6])
          await database.run(database.build.insertInto("files").values({ ...file(), trashed_at }));
      }
    });

    test("lets uploads go with the folder they were for, and files stay in its way", async (database) => {
      const { accountId, vaultId } = await insertAccount(database);
      const place = { account_id: accountId, vault_id: vaultId };
      const [parent, child] = [folderRow(place), folderRow(place)];
      await database.run(database.build.insertInto("folders").values([parent, { ...child, parent_id: parent.id }]));
      await database.run(database.build.insertInto("uploads").values(uploadRow({ ...place, folder_id: child.id })));
      const file = fileRow({ ...place, folder_id: child.id });
      await database.run(database.build.insertInto("files").values(file));
      const removeAll = database.build.deleteFrom("folders").where("vault_id", "=", vaultId);
      await expect(database.run(removeAll)).rejects.toThrow(ConstraintError);
      await database.run(database.build.deleteFrom("files").where("id", "=", file.id));
      expect(await database.run(removeAll)).toBe(2);
      expect(await database.all(database.build.selectFrom("uploads").select("id"))).toEqual([]);
    });
  });
}

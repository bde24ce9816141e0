/** Files that wait for their entry in the index of names: many at once are indexed for a fraction of the cost. */
import { sql } from "kysely";
import type { Migration } from "./migration.ts";

export const waitingEntries: Migration = {
  version: 26,
  name: "waiting entries",
  async up(queries) {
    const { schema } = queries.build;
    await queries.run(schema.alterTable("files").addColumn("search_waits", "integer"));
    await queries.run(
      schema
        .createIndex("files_search_waits")
        .on("files")
        .column("account_id")
        .where(sql<boolean>`search_waits is not null`),
    );
    // How many there are, or were until they were deleted.
    await queries.run(
      schema.alterTable("search_scopes").addColumn("waiting", "integer", (column) => column.notNull().defaultTo(0)),
    );
  },
};

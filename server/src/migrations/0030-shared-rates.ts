/** Rates that all processes count together, where the operator asks for it. They are worth nothing after a crash, so none is flushed. */
import { sql } from "kysely";
import { dialectOf } from "../ports/database.ts";
import type { Migration } from "./migration.ts";

export const sharedRates: Migration = {
  version: 30,
  name: "shared rates",
  async up(queries) {
    const { schema } = queries.build;
    const table = schema
      .createTable("rates")
      .addColumn("key", "text", (column) => column.primaryKey())
      .addColumn("full_at", "bigint", (column) => column.notNull());
    await queries.run(dialectOf(queries) === "postgres" ? table.modifyFront(sql`unlogged`) : table);
    await queries.run(schema.createIndex("rates_full_at").on("rates").column("full_at"));
  },
};

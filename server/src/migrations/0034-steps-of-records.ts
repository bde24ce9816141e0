/**
 * The steps of the ladder that records of vault keys bring: several for each record (encryption design §9.1). The steps
 * of before were any member's to replace, and a reader may have made them: they go.
 */
import type { Migration } from "./migration.ts";

export const stepsOfRecords: Migration = {
  version: 34,
  name: "steps-of-records",
  async up(queries) {
    const { schema } = queries.build;
    await queries.run(schema.dropTable("ladder_steps"));
    await queries.run(
      schema
        .createTable("ladder_steps")
        .addColumn("vault_id", "text", (column) => column.notNull().references("vaults.id").onDelete("cascade"))
        .addColumn("created_at", "bigint", (column) => column.notNull())
        .addColumn("id", "text", (column) => column.notNull())
        .addColumn("step", "text", (column) => column.notNull())
        .addPrimaryKeyConstraint("ladder_steps_of_records", ["vault_id", "created_at", "id"]),
    );
  },
};

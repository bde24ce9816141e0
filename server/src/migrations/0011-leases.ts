/** What one process at a time does (decision 0031). */
import type { Migration } from "./migration.ts";

export const leases: Migration = {
  version: 11,
  name: "leases",
  async up(queries) {
    const { schema } = queries.build;
    await queries.run(
      schema
        .createTable("leases")
        .addColumn("name", "text", (column) => column.primaryKey())
        .addColumn("holder", "text")
        .addColumn("fence", "bigint", (column) => column.notNull())
        .addColumn("until", "bigint", (column) => column.notNull())
        .addColumn("taken_over", "integer", (column) => column.notNull()),
    );
    await queries.run(schema.createIndex("leases_until").on("leases").column("until"));
  },
};

/** How long servers have run on these rows, and what their clock said last (ports/running-time.ts). */
import type { Migration } from "./migration.ts";

export const runningMarks: Migration = {
  version: 38,
  name: "running marks",
  async up(queries) {
    await queries.run(
      queries.build.schema
        .createTable("running_marks")
        .addColumn("id", "integer", (column) => column.primaryKey())
        .addColumn("total", "bigint", (column) => column.notNull())
        .addColumn("marked_at", "bigint", (column) => column.notNull())
        .addColumn("doubted_at", "bigint")
        .addColumn("doubt", "text"),
    );
  },
};

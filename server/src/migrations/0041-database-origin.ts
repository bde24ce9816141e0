/** In which mode the first server ran on these rows: those of development are never served in production (features/origin). */
import type { Migration } from "./migration.ts";

export const databaseOrigin: Migration = {
  version: 41,
  name: "database origin",
  oldestBeside: 39,
  async up(queries) {
    await queries.run(
      queries.build.schema
        .createTable("database_origin")
        .addColumn("id", "integer", (column) => column.primaryKey())
        .addColumn("mode", "text", (column) => column.notNull()),
    );
  },
};

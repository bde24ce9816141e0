/** Whether the data are here, or on their way to or from other storage (features/moving/state.ts). */
import type { Migration } from "./migration.ts";

export const moves: Migration = {
  version: 31,
  name: "moves",
  async up(queries) {
    await queries.run(
      queries.build.schema
        .createTable("moves")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("state", "text", (column) => column.notNull())
        .addColumn("other", "text", (column) => column.notNull())
        .addColumn("at", "bigint", (column) => column.notNull()),
    );
  },
};

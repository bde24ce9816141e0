/** The mark that rows and blob store carry both, so that neither is taken for another's (features/pairing). */
import type { Migration } from "./migration.ts";

export const storeMarks: Migration = {
  version: 36,
  name: "store-marks",
  async up(queries) {
    await queries.run(
      queries.build.schema
        .createTable("store_marks")
        .addColumn("id", "integer", (column) => column.primaryKey())
        .addColumn("store_id", "text", (column) => column.notNull())
        .addColumn("token", "text", (column) => column.notNull())
        .addColumn("previous_token", "text")
        .addColumn("renewed_at", "bigint")
        .addColumn("stopped", "text"),
    );
  },
};

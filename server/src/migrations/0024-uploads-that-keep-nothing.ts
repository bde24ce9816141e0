/** Resumable uploads that give up the content before them (decision 0051). */
import type { Migration } from "./migration.ts";

export const uploadsThatKeepNothing: Migration = {
  version: 24,
  name: "uploads-that-keep-nothing",
  async up(queries) {
    await queries.run(
      queries.build.schema
        .alterTable("uploads")
        .addColumn("keep", "integer", (column) => column.notNull().defaultTo(1)),
    );
  },
};

/** How often a file or folder was renamed, moved, trashed or restored: what a change under a condition compares. */
import type { Migration } from "./migration.ts";

export const revisions: Migration = {
  version: 8,
  name: "revisions",
  async up(queries) {
    for (const table of ["files", "folders"] as const)
      await queries.run(
        queries.build.schema
          .alterTable(table)
          .addColumn("revision", "bigint", (column) => column.notNull().defaultTo(1)),
      );
  },
};

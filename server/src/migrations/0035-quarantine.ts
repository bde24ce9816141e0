/** Contents that are to be deleted lie in quarantine before (decision 0141), and its time is the running time of servers. */
import type { Migration } from "./migration.ts";

export const quarantine: Migration = {
  version: 35,
  name: "quarantine",
  async up(queries) {
    const { schema } = queries.build;
    const statements = [
      // What was queued before was a content, or is treated as one.
      schema
        .alterTable("blob_deletions")
        .addColumn("reason", "text", (column) => column.notNull().defaultTo("deleted")),
      schema
        .createTable("blob_quarantine")
        .addColumn("blob_key", "text", (column) => column.primaryKey())
        .addColumn("reason", "text", (column) => column.notNull())
        .addColumn("account_id", "text")
        .addColumn("bytes", "bigint", (column) => column.notNull())
        .addColumn("since", "bigint", (column) => column.notNull())
        .addColumn("ends", "bigint")
        .addColumn("deleting", "integer", (column) => column.notNull()),
      schema.createIndex("blob_quarantine_ends").on("blob_quarantine").columns(["ends"]),
      // With the bytes, so that sums read the indexes alone.
      schema.createIndex("blob_quarantine_account").on("blob_quarantine").columns(["account_id", "bytes"]),
      schema.createIndex("blob_quarantine_reason").on("blob_quarantine").columns(["reason", "bytes"]),
      schema
        .createTable("sweeps")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("at", "bigint", (column) => column.notNull())
        .addColumn("contents", "bigint", (column) => column.notNull())
        .addColumn("orphans", "bigint", (column) => column.notNull())
        .addColumn("stopped", "integer", (column) => column.notNull()),
    ];
    for (const statement of statements) await queries.run(statement);
  },
};

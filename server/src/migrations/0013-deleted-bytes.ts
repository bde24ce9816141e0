/** The account of the bytes that wait for their deletion, and how many (decision 0027). Bytes queued before count for nobody. */
import type { Migration } from "./migration.ts";

export const deletedBytes: Migration = {
  version: 13,
  name: "deleted bytes",
  async up(queries) {
    const { schema } = queries.build;
    const table = schema.alterTable("blob_deletions");
    await queries.run(table.addColumn("account_id", "text"));
    await queries.run(table.addColumn("bytes", "bigint", (column) => column.notNull().defaultTo(0)));
    // With the bytes, so that a sum reads the index alone.
    await queries.run(
      schema.createIndex("blob_deletions_account").on("blob_deletions").columns(["account_id", "bytes"]),
    );
  },
};

/** Partial blobs in a store that has none of its own: parts and their order are rows, so any process goes on with them. */
import type { Migration } from "./migration.ts";

export const blobParts: Migration = {
  version: 28,
  name: "blob parts",
  async up(queries) {
    const { schema } = queries.build;
    await queries.run(
      schema
        .createTable("blob_partials")
        .addColumn("blob_key", "text", (column) => column.primaryKey())
        .addColumn("writer", "integer", (column) => column.notNull())
        .addColumn("length", "bigint", (column) => column.notNull())
        .addColumn("part_bytes", "bigint", (column) => column.notNull())
        .addColumn("next_part", "integer", (column) => column.notNull())
        .addColumn("upload_id", "text")
        .addColumn("tail_bytes", "bigint", (column) => column.notNull())
        .addColumn("tail_number", "integer", (column) => column.notNull())
        .addColumn("created_at", "bigint", (column) => column.notNull())
        .addColumn("completed_at", "bigint")
        .addColumn("sha256", "text"),
    );
    await queries.run(schema.createIndex("blob_partials_completed").on("blob_partials").column("completed_at"));
    await queries.run(
      schema
        .createTable("blob_parts")
        .addColumn("blob_key", "text", (column) => column.notNull())
        .addColumn("number", "integer", (column) => column.notNull())
        .addColumn("size", "bigint", (column) => column.notNull())
        .addColumn("etag", "text", (column) => column.notNull())
        .addColumn("sha256", "text", (column) => column.notNull())
        .addColumn("stray", "integer", (column) => column.notNull())
        .addPrimaryKeyConstraint("blob_parts_pkey", ["blob_key", "number"]),
    );
  },
};

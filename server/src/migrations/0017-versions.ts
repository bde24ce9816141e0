/** Versions of files in public vaults (decision 0050): who made each, when and how, and which bytes are counted for it. */
import { sql } from "kysely";
import type { Migration } from "./migration.ts";

export const versions: Migration = {
  version: 17,
  name: "versions",
  async up(queries) {
    const { schema } = queries.build;
    const files = schema.alterTable("files");
    for (const statement of [
      files.addColumn("version_number", "bigint", (column) => column.notNull().defaultTo(1)),
      files.addColumn("version_at", "bigint", (column) => column.notNull().defaultTo(0)),
      files.addColumn("version_how", "text", (column) => column.notNull().defaultTo("upload")),
      files.addColumn("version_author", "text"),
      queries.build.updateTable("files").set({ version_at: sql<number>`updated_at` }),
      schema.alterTable("vaults").addColumn("keep_versions_days", "integer"),
      schema
        .alterTable("accounts")
        .addColumn("usage_version_bytes", "bigint", (column) => column.notNull().defaultTo(0)),
      // SQLite cannot take constraints away, so the table is made again: versions share bytes, and public ones have no statements.
      schema
        .createTable("kept_versions")
        .addColumn("vault_id", "text", (column) => column.notNull().references("vaults.id").onDelete("cascade"))
        .addColumn("file_id", "text", (column) => column.notNull())
        .addColumn("version_id", "text", (column) => column.notNull())
        .addColumn("number", "bigint", (column) => column.notNull())
        .addColumn("blob_key", "text", (column) => column.notNull())
        .addColumn("size", "bigint", (column) => column.notNull())
        .addColumn("charged", "bigint", (column) => column.notNull())
        .addColumn("sha256", "text", (column) => column.notNull())
        .addColumn("content_type", "text", (column) => column.notNull())
        .addColumn("shared_json", "text")
        .addColumn("how", "text", (column) => column.notNull())
        .addColumn("author", "text")
        .addColumn("author_key", "text", (column) => column.notNull())
        .addColumn("created_at", "bigint", (column) => column.notNull())
        .addColumn("replaced_at", "bigint", (column) => column.notNull())
        .addColumn("expires_at", "bigint", (column) => column.notNull())
        .addPrimaryKeyConstraint("kept_versions_key", ["file_id", "version_id"]),
    ])
      await queries.run(statement);
    const copy = sql`insert into kept_versions select vault_id, file_id, version_id, 0, blob_key, size, 0, sha256, 'application/octet-stream',
      shared_json, 'replace', null, '', expires_at - 3600000, expires_at - 3600000, expires_at from file_versions`;
    await queries.run({ compile: () => copy.compile(queries.build) });
    for (const statement of [
      schema.dropTable("file_versions"),
      schema.alterTable("kept_versions").renameTo("file_versions"),
      schema.createIndex("file_versions_expiry").on("file_versions").column("expires_at"),
      schema.createIndex("file_versions_in_vault").on("file_versions").column("vault_id"),
      schema.createIndex("file_versions_blob").on("file_versions").column("blob_key"),
      schema.createIndex("file_versions_number").on("file_versions").columns(["file_id", "number"]),
      schema.createIndex("file_versions_author").on("file_versions").columns(["file_id", "author_key", "number"]),
    ])
      await queries.run(statement);
  },
};

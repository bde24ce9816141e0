/** Budgets of keys (decision 0057): what each has used, and whose bytes are whose. */
import type { Migration } from "./migration.ts";

export const budgets: Migration = {
  version: 21,
  name: "budgets",
  async up(queries) {
    const { schema } = queries.build;
    for (const statement of [
      schema.alterTable("api_keys").addColumn("budgets_json", "text"),
      schema.alterTable("invites").addColumn("budgets_json", "text"),
      schema.alterTable("files").addColumn("budget_id", "text"),
      schema.alterTable("file_versions").addColumn("budget_id", "text"),
      schema
        .createTable("budgets")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("parent_id", "text")
        .addColumn("stored_bytes", "bigint", (column) => column.notNull()),
      schema
        .createTable("budget_slots")
        .addColumn("budget_id", "text", (column) => column.notNull())
        .addColumn("slot", "bigint", (column) => column.notNull())
        .addColumn("bytes", "bigint", (column) => column.notNull())
        .addColumn("files", "bigint", (column) => column.notNull())
        .addPrimaryKeyConstraint("budget_slots_key", ["budget_id", "slot"]),
      schema
        .createTable("budget_holds")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("budget_id", "text", (column) => column.notNull())
        .addColumn("hold_id", "text", (column) => column.references("upload_holds.id").onDelete("cascade"))
        .addColumn("upload_id", "text", (column) => column.references("uploads.id").onDelete("cascade"))
        .addColumn("bytes", "bigint", (column) => column.notNull())
        .addColumn("expires_at", "bigint", (column) => column.notNull()),
      schema.createIndex("budget_holds_budget").on("budget_holds").columns(["budget_id", "expires_at"]),
      schema.createIndex("budget_holds_hold").on("budget_holds").column("hold_id"),
      schema.createIndex("budget_holds_upload").on("budget_holds").column("upload_id"),
    ])
      await queries.run(statement);
  },
};

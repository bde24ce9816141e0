/** Authors of files and folders, and the names and places that those had (decision 0051). */
import type { Migration } from "./migration.ts";

export const authorsAndEntries: Migration = {
  version: 18,
  name: "authors-and-entries",
  async up(queries) {
    const { schema } = queries.build;
    for (const table of ["files", "folders"] as const) {
      const items = schema.alterTable(table);
      for (const statement of [
        items.addColumn("created_by", "text"),
        items.addColumn("updated_by", "text"),
        items.addColumn("entry_number", "bigint", (column) => column.notNull().defaultTo(1)),
        items.addColumn("entry_at", "bigint"),
        items.addColumn("entry_how", "text"),
        items.addColumn("entry_author", "text"),
      ])
        await queries.run(statement);
    }
    for (const statement of [
      schema
        .createTable("item_entries")
        .addColumn("vault_id", "text", (column) => column.notNull().references("vaults.id").onDelete("cascade"))
        .addColumn("item_id", "text", (column) => column.notNull())
        .addColumn("number", "bigint", (column) => column.notNull())
        .addColumn("name", "text", (column) => column.notNull())
        .addColumn("folder_id", "text")
        .addColumn("shared_json", "text")
        .addColumn("how", "text", (column) => column.notNull())
        .addColumn("author", "text")
        .addColumn("author_key", "text", (column) => column.notNull())
        .addColumn("created_at", "bigint", (column) => column.notNull())
        .addColumn("replaced_at", "bigint", (column) => column.notNull())
        .addColumn("expires_at", "bigint", (column) => column.notNull())
        .addPrimaryKeyConstraint("item_entries_key", ["item_id", "number"]),
      schema.createIndex("item_entries_expiry").on("item_entries").column("expires_at"),
      schema.createIndex("item_entries_in_vault").on("item_entries").column("vault_id"),
      schema.createIndex("item_entries_author").on("item_entries").columns(["item_id", "author_key", "number"]),
    ])
      await queries.run(statement);
  },
};

/**
 * What files and folders were before, in any number of rows: a vault keeps it for another time, and an item goes with all of it, from one
 * row on, and the others follow (features/vaults/retention.ts and features/files/past-removal.ts).
 */
import { sql } from "kysely";
import type { Migration } from "./migration.ts";

export const largePasts: Migration = {
  version: 40,
  name: "large-pasts",
  async up(queries) {
    const { schema } = queries.build;
    const statements = [
      schema.alterTable("vaults").addColumn("pending_retention", "bigint"),
      schema
        .createIndex("vaults_pending_retention")
        .on("vaults")
        .column("id")
        .where(sql<boolean>`pending_retention is not null`),
      // How long each row stays, so that those of another time are found at once.
      schema
        .createIndex("file_versions_retention")
        .on("file_versions")
        .columns(["vault_id", sql`(expires_at - replaced_at)`]),
      schema.dropIndex("item_entries_in_vault"),
      schema
        .createIndex("item_entries_retention")
        .on("item_entries")
        .columns(["vault_id", sql`(expires_at - replaced_at)`]),
      schema
        .createTable("ended_items")
        .addColumn("item_id", "text", (column) => column.primaryKey())
        .addColumn("account_id", "text", (column) => column.notNull().references("accounts.id"))
        .addColumn("vault_id", "text", (column) => column.notNull().references("vaults.id").onDelete("cascade"))
        .addColumn("reason", "text", (column) => column.notNull())
        .addColumn("bytes", "bigint", (column) => column.notNull()),
      schema.createIndex("ended_items_account").on("ended_items").column("account_id"),
      schema.createIndex("ended_items_vault").on("ended_items").column("vault_id"),
    ];
    for (const statement of statements) await queries.run(statement);
  },
};

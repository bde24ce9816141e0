/**
 * Acts over many rows begin with one row, and their pieces follow (features/tree-acts, features/vaults/purging.ts). Also indexes for lists
 * by name outside of a folder, and for what a vault holds, which its deletion counts at once.
 */
import { sql } from "kysely";
import type { Migration } from "./migration.ts";

export const largeActs: Migration = {
  version: 37,
  name: "large acts",
  async up(queries) {
    const { schema } = queries.build;
    const statements = [
      schema
        .createTable("tree_acts")
        .addColumn("root_id", "text", (column) => column.primaryKey())
        .addColumn("account_id", "text", (column) => column.notNull().references("accounts.id"))
        .addColumn("vault_id", "text", (column) => column.notNull().references("vaults.id").onDelete("cascade"))
        .addColumn("kind", "text", (column) => column.notNull())
        .addColumn("trashed_at", "bigint")
        .addColumn("trashed_with", "text")
        .addColumn("sequence", "bigint", (column) => column.notNull()),
      schema.createIndex("tree_acts_account").on("tree_acts").column("account_id"),
      schema.createIndex("tree_acts_vault").on("tree_acts").column("vault_id"),
      schema.alterTable("vaults").addColumn("purging_bytes", "bigint"),
      schema
        .createIndex("vaults_purging")
        .on("vaults")
        .column("account_id")
        .where(sql<boolean>`purging_bytes is not null`),
      schema.dropIndex("files_in_vault"),
      schema.createIndex("files_counted").on("files").columns(["vault_id", "budget_id", "trashed_at", "size"]),
      schema.dropIndex("file_versions_in_vault"),
      schema.createIndex("file_versions_counted").on("file_versions").columns(["vault_id", "budget_id", "charged"]),
    ];
    for (const statement of statements) await queries.run(statement);
    for (const table of ["files", "folders"] as const)
      for (const [state, isInState] of [
        ["live", sql<boolean>`trashed_at is null`],
        ["trashed", sql<boolean>`trashed_at is not null`],
      ] as const)
        await queries.run(
          schema
            .createIndex(`${table}_name_${state}`)
            .on(table)
            .columns([...["account_id", "vault_id", "name"], sql`created_at desc`, sql`id desc`])
            .where(isInState),
        );
  },
};

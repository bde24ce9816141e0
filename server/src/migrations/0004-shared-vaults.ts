/** Shared vaults: members, vault keys, the keys of folders' names, versions that were replaced. Columns: ports/tables.ts. */
import { type Compilable, type CreateTableBuilder, sql } from "kysely";
import type { Queries } from "../ports/database.ts";
import type { Tables } from "../ports/tables.ts";
import type { Migration } from "./migration.ts";

export const sharedVaults: Migration = {
  version: 4,
  name: "shared vaults",
  async up(queries) {
    for (const statement of [...columns(queries), ...tables(queries), ...indexes(queries)])
      await queries.run(statement);
  },
};

function columns({ build: { schema } }: Queries): Compilable[] {
  return [
    schema.alterTable("vaults").addColumn("owner_address", "text"),
    schema.alterTable("vaults").addColumn("chain_generation", "bigint"),
    schema.alterTable("vaults").addColumn("plain_names", "integer"),
    schema.alterTable("folders").addColumn("shared_json", "text"),
    schema.alterTable("files").addColumn("shared_json", "text"),
    schema.alterTable("uploads").addColumn("shared_json", "text"),
    schema.alterTable("accounts").addColumn("chain_public_key", "text"),
    schema.alterTable("api_keys").addColumn("chain_public_key", "text"),
  ];
}

function tables(queries: Queries): Compilable[] {
  const vaultOf = (name: keyof Tables) =>
    table(queries, name).addColumn("vault_id", "text", (column) =>
      column.notNull().references("vaults.id").onDelete("cascade"),
    );
  return [
    vaultOf("vault_members")
      .addColumn("chain_address", "text", (column) => column.notNull())
      .addColumn("label", "text", (column) => column.notNull())
      .addColumn("added_at", "bigint", (column) => column.notNull())
      .addColumn("removed_at", "bigint")
      .addPrimaryKeyConstraint("vault_members_key", ["vault_id", "chain_address"]),
    vaultOf("vault_keys")
      .addColumn("key_id", "text", (column) => column.notNull())
      .addColumn("generation", "bigint", (column) => column.notNull())
      .addColumn("record", "text", (column) => column.notNull())
      .addColumn("creator", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("replaced_at", "bigint")
      .addPrimaryKeyConstraint("vault_keys_key", ["vault_id", "key_id"]),
    vaultOf("folder_keys")
      .addColumn("folder_id", "text", (column) => column.notNull())
      .addColumn("key_id", "text", (column) => column.notNull())
      .addPrimaryKeyConstraint("folder_keys_key", ["vault_id", "folder_id"]),
    vaultOf("staged_names")
      .addColumn("folder_id", "text", (column) => column.notNull())
      .addColumn("key_id", "text", (column) => column.notNull())
      .addColumn("kind", "text", (column) => column.notNull())
      .addColumn("item_id", "text", (column) => column.notNull())
      .addColumn("entry", "text", (column) => column.notNull())
      .addColumn("metadata", "text", (column) => column.notNull())
      .addColumn("name_index", "text", (column) => column.notNull())
      .addPrimaryKeyConstraint("staged_names_key", ["vault_id", "folder_id", "key_id", "item_id"]),
    vaultOf("file_versions")
      .addColumn("file_id", "text", (column) => column.notNull())
      .addColumn("version_id", "text", (column) => column.notNull())
      .addColumn("blob_key", "text", (column) => column.notNull().unique())
      .addColumn("size", "bigint", (column) => column.notNull())
      .addColumn("sha256", "text", (column) => column.notNull())
      .addColumn("shared_json", "text", (column) => column.notNull())
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("file_versions_key", ["file_id", "version_id"]),
  ];
}

function table({ build }: Queries, name: keyof Tables): CreateTableBuilder<string> {
  return build.schema.createTable(name);
}

function indexes({ build: { schema } }: Queries): Compilable[] {
  return [
    schema
      .createIndex("vaults_chain_object")
      .unique()
      .on("vaults")
      .column("chain_object_id")
      .where(sql.ref("chain_object_id"), "is not", null),
    schema.createIndex("vault_members_address").on("vault_members").columns(["chain_address", "vault_id"]),
    schema
      .createIndex("vault_keys_current")
      .unique()
      .on("vault_keys")
      .columns(["vault_id", "generation"])
      .where(sql.ref("replaced_at"), "is", null),
    schema.createIndex("vault_keys_newest").on("vault_keys").columns(["vault_id", "created_at", "key_id"]),
    schema.createIndex("file_versions_expiry").on("file_versions").column("expires_at"),
  ];
}

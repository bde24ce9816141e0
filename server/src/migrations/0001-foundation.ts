/**
 * Accounts, keys, vaults, folders, files, uploads, changes. Columns are described in ports/tables.ts.
 *
 * `bigint` for times and sizes: PostgreSQL's `integer` has 32 bits (SQLite gives both integer affinity). Indexes end in
 * `created_at desc, id desc` because that is the order and the key of every listing, so a page costs the same at any depth.
 */
import { type Compilable, type CreateIndexBuilder, sql } from "kysely";
import type { Queries } from "../ports/database.ts";
import type { Tables } from "../ports/tables.ts";
import type { Migration } from "./migration.ts";

export const foundation: Migration = {
  version: 1,
  name: "foundation",
  async up(queries) {
    for (const statement of [...accountTables(queries), ...treeTables(queries), ...transferTables(queries)])
      await queries.run(statement);
    for (const statement of indexes(queries)) await queries.run(statement);
  },
};

function accountTables({ build: { schema } }: Queries): Compilable[] {
  return [
    schema
      .createTable("accounts")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("email", "text", (column) => column.notNull().unique())
      .addColumn("email_verified", "integer", (column) => column.notNull())
      .addColumn("name", "text")
      .addColumn("idp_id", "text", (column) => column.unique())
      .addColumn("chain_address", "text")
      .addColumn("chain_address_source", "text")
      .addColumn("plan", "text", (column) => column.notNull())
      // Not a foreign key: the account's row is written before its first vault's.
      .addColumn("default_vault_id", "text", (column) => column.notNull())
      .addColumn("usage_bytes", "bigint", (column) => column.notNull().check(sql`usage_bytes >= 0`))
      .addColumn("usage_files", "bigint", (column) => column.notNull().check(sql`usage_files >= 0`))
      .addColumn("sequence", "bigint", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull()),
    schema
      .createTable("api_keys")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("account_id", "text", (column) => column.notNull().references("accounts.id"))
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("hash", "text", (column) => column.notNull().unique())
      .addColumn("prefix", "text", (column) => column.notNull())
      .addColumn("last4", "text", (column) => column.notNull())
      .addColumn("scopes_json", "text")
      .addColumn("vault_ids_json", "text")
      .addColumn("chain_address", "text")
      .addColumn("expires_at", "bigint")
      .addColumn("last_used_at", "bigint")
      .addColumn("revoked_at", "bigint")
      .addColumn("created_at", "bigint", (column) => column.notNull()),
    schema
      .createTable("changes")
      .addColumn("account_id", "text", (column) => column.notNull().references("accounts.id"))
      .addColumn("sequence", "bigint", (column) => column.notNull())
      .addColumn("id", "text", (column) => column.notNull())
      .addColumn("action", "text", (column) => column.notNull())
      .addColumn("actor_json", "text", (column) => column.notNull())
      .addColumn("target_json", "text", (column) => column.notNull())
      .addColumn("occurred_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("changes_key", ["account_id", "sequence"]),
    schema
      .createTable("idempotency")
      .addColumn("account_id", "text", (column) => column.notNull())
      .addColumn("key", "text", (column) => column.notNull())
      .addColumn("fingerprint", "text", (column) => column.notNull())
      .addColumn("state", "text", (column) => column.notNull())
      .addColumn("resource", "text")
      .addColumn("status", "integer")
      .addColumn("headers_json", "text")
      .addColumn("body", "text")
      .addColumn("owner", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("idempotency_key", ["account_id", "key"]),
  ];
}

function treeTables({ build: { schema } }: Queries): Compilable[] {
  return [
    schema
      .createTable("vaults")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("account_id", "text", (column) => column.notNull().references("accounts.id"))
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("type", "text", (column) => column.notNull())
      .addColumn("chain_object_id", "text")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull()),
    schema
      .createTable("folders")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("account_id", "text", (column) => column.notNull().references("accounts.id"))
      .addColumn("vault_id", "text", (column) => column.notNull().references("vaults.id"))
      .addColumn("parent_id", "text", (column) => column.references("folders.id"))
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("depth", "integer", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .addColumn("trashed_at", "bigint")
      .addColumn("trashed_with", "text"),
    schema
      .createTable("files")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("account_id", "text", (column) => column.notNull().references("accounts.id"))
      .addColumn("vault_id", "text", (column) => column.notNull().references("vaults.id"))
      .addColumn("folder_id", "text", (column) => column.references("folders.id"))
      .addColumn("version_id", "text", (column) => column.notNull())
      .addColumn("blob_key", "text", (column) => column.notNull().unique())
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("size", "bigint", (column) => column.notNull())
      .addColumn("content_type", "text", (column) => column.notNull())
      .addColumn("sha256", "text", (column) => column.notNull())
      .addColumn("encrypted", "integer", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .addColumn("trashed_at", "bigint")
      .addColumn("trashed_with", "text"),
  ];
}

function transferTables({ build: { schema } }: Queries): Compilable[] {
  return [
    schema
      .createTable("uploads")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("account_id", "text", (column) => column.notNull().references("accounts.id"))
      .addColumn("key_id", "text")
      // An upload never prevents the deletion of its target; the sweep finds its bytes.
      .addColumn("vault_id", "text", (column) => column.notNull().references("vaults.id").onDelete("cascade"))
      .addColumn("folder_id", "text", (column) => column.references("folders.id").onDelete("cascade"))
      .addColumn("file_id", "text")
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("content_type", "text", (column) => column.notNull())
      .addColumn("length", "bigint", (column) => column.notNull())
      .addColumn("blob_key", "text", (column) => column.notNull().unique())
      .addColumn("if_none_match", "integer", (column) => column.notNull())
      .addColumn("if_match", "text")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .addColumn("finished_file_id", "text"),
    schema
      .createTable("blob_deletions")
      .addColumn("blob_key", "text", (column) => column.primaryKey())
      .addColumn("not_before", "bigint", (column) => column.notNull()),
  ];
}

function indexes(queries: Queries): Compilable[] {
  return [...listingIndexes(queries), ...nameIndexes(queries), ...relationIndexes(queries), ...expiryIndexes(queries)];
}

/** The live rows and the trash are listed apart: each gets its own index, so neither pages over the other. */
function listingIndexes(queries: Queries): Compilable[] {
  const newestFirst = [sql`created_at desc`, sql`id desc`];
  // `coalesce`, because no index is in order behind a condition that a column is null: the top of a vault is a value, as each folder is.
  const listings: readonly [table: keyof Tables, name: string, columns: readonly IndexColumn[]][] = [
    ["folders", "account", ["account_id"]],
    ["folders", "vault", ["account_id", "vault_id"]],
    ["folders", "parent", ["account_id", "vault_id", sql`(coalesce(parent_id, ''))`]],
    ["files", "account", ["account_id"]],
    ["files", "vault", ["account_id", "vault_id"]],
    ["files", "folder", ["account_id", "vault_id", sql`(coalesce(folder_id, ''))`]],
  ];
  return [
    index(queries, "api_keys", "newest", ["account_id", ...newestFirst]),
    index(queries, "vaults", "newest", ["account_id", ...newestFirst]),
    ...listings.flatMap(([table, name, columns]) => [
      index(queries, table, `${name}_live`, [...columns, ...newestFirst]).where(sql<boolean>`trashed_at is null`),
      index(queries, table, `${name}_trashed`, [...columns, ...newestFirst]).where(
        sql<boolean>`trashed_at is not null`,
      ),
    ]),
  ];
}

/** One live item of a name per place; `coalesce`, because NULL is distinct from NULL in a unique index. */
function nameIndexes(queries: Queries): Compilable[] {
  return [
    index(queries, "vaults", "name", ["account_id", "name"]).unique(),
    index(queries, "folders", "live_name", ["vault_id", sql`(coalesce(parent_id, ''))`, "name"])
      .unique()
      .where(sql<boolean>`trashed_at is null`),
    index(queries, "files", "live_name", ["vault_id", sql`(coalesce(folder_id, ''))`, "name"])
      .unique()
      .where(sql<boolean>`trashed_at is null`),
  ];
}

/** For walking the tree, and for the foreign keys: deleting a parent looks for its children. */
function relationIndexes(queries: Queries): Compilable[] {
  return [
    index(queries, "folders", "in_vault", ["vault_id"]),
    index(queries, "folders", "in_parent", ["parent_id"]).where(sql<boolean>`parent_id is not null`),
    index(queries, "folders", "trashed_with", ["trashed_with"]).where(sql<boolean>`trashed_with is not null`),
    index(queries, "files", "in_vault", ["vault_id"]),
    index(queries, "files", "in_folder", ["folder_id"]).where(sql<boolean>`folder_id is not null`),
    index(queries, "files", "trashed_with", ["trashed_with"]).where(sql<boolean>`trashed_with is not null`),
    index(queries, "uploads", "account", ["account_id", ...[sql`created_at desc`, sql`id desc`]]),
    // What an account's unfinished uploads hold is summed at every creation; those that have ended are many more.
    index(queries, "uploads", "held", ["account_id", "expires_at"]).where(sql<boolean>`finished_file_id is null`),
    index(queries, "uploads", "in_vault", ["vault_id"]),
    index(queries, "uploads", "in_folder", ["folder_id"]).where(sql<boolean>`folder_id is not null`),
  ];
}

function expiryIndexes(queries: Queries): Compilable[] {
  return [
    index(queries, "folders", "trashed_at", ["trashed_at"]).where(sql<boolean>`trashed_at is not null`),
    index(queries, "files", "trashed_at", ["trashed_at"]).where(sql<boolean>`trashed_at is not null`),
    index(queries, "uploads", "expires_at", ["expires_at"]),
    index(queries, "idempotency", "expires_at", ["expires_at"]),
    index(queries, "blob_deletions", "not_before", ["not_before"]),
  ];
}

type IndexColumn = string | ReturnType<typeof sql>;

function index(
  queries: Queries,
  table: keyof Tables,
  name: string,
  columns: readonly IndexColumn[],
): CreateIndexBuilder {
  return queries.build.schema
    .createIndex(`${table}_${name}`)
    .on(table)
    .columns([...columns]);
}

/** Sign-in, sessions, codes, mails, invites, payment, and the chain of the audit log. Columns: ports/tables.ts. */
import { type Compilable, type CreateTableBuilder, sql } from "kysely";
import type { Queries } from "../ports/database.ts";
import type { Tables } from "../ports/tables.ts";
import { chainExistingChanges } from "./0002-identity/chain-changes.ts";
import type { Migration } from "./migration.ts";

export const identity: Migration = {
  version: 2,
  name: "identity",
  async up(queries) {
    const statements = [
      ...identityColumns(queries),
      ...newColumns(queries),
      ...signInTables(queries),
      ...codeTables(queries),
      ...indexes(queries),
    ];
    for (const statement of statements) await queries.run(statement);
    await chainExistingChanges(queries);
  },
};

/**
 * Subjects are an issuer's own: two providers may use the same one. Schema 1 had them unique by themselves, which no
 * statement takes back from a column. So the column is a new one; the old one stays behind, empty.
 */
function identityColumns({ build }: Queries): Compilable[] {
  const { schema } = build;
  return [
    schema.alterTable("accounts").renameColumn("idp_id", "former_idp_id"),
    schema.alterTable("accounts").addColumn("idp_id", "text"),
    schema.alterTable("accounts").addColumn("idp_issuer", "text"),
    { compile: () => sql`update accounts set idp_id = former_idp_id, former_idp_id = null`.compile(build) },
  ];
}

function newColumns({ build: { schema } }: Queries): Compilable[] {
  const none = "0".repeat(64);
  return [
    schema.alterTable("accounts").addColumn("password_hash", "text"),
    schema.alterTable("accounts").addColumn("zklogin_salt", "text"),
    schema.alterTable("accounts").addColumn("changes_hash", "text", (column) => column.notNull().defaultTo(none)),
    schema.alterTable("changes").addColumn("context_json", "text", (column) => column.notNull().defaultTo("{}")),
    schema.alterTable("changes").addColumn("previous_hash", "text", (column) => column.notNull().defaultTo(none)),
    schema.alterTable("changes").addColumn("hash", "text", (column) => column.notNull().defaultTo(none)),
  ];
}

function signInTables(queries: Queries): Compilable[] {
  return [
    table(queries, "sessions")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("account_id", "text", (column) => column.notNull().references("accounts.id"))
      .addColumn("method", "text", (column) => column.notNull())
      .addColumn("user_agent", "text")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("last_used_at", "bigint", (column) => column.notNull())
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .addColumn("ends_at", "bigint", (column) => column.notNull())
      .addColumn("revoked_at", "bigint"),
    table(queries, "refresh_tokens")
      .addColumn("hash", "text", (column) => column.primaryKey())
      .addColumn("session_id", "text", (column) => column.notNull().references("sessions.id").onDelete("cascade"))
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .addColumn("rotated_at", "bigint"),
    table(queries, "sign_ins")
      .addColumn("state_hash", "text", (column) => column.primaryKey())
      .addColumn("flow", "text", (column) => column.notNull())
      .addColumn("nonce", "text", (column) => column.notNull())
      .addColumn("code_verifier", "text", (column) => column.notNull())
      .addColumn("access_code_hash", "text")
      .addColumn("expires_at", "bigint", (column) => column.notNull()),
    table(queries, "chain_challenges")
      .addColumn("nonce_hash", "text", (column) => column.primaryKey())
      .addColumn("account_id", "text", (column) => column.notNull().references("accounts.id"))
      .addColumn("credential", "text", (column) => column.notNull())
      .addColumn("expires_at", "bigint", (column) => column.notNull()),
    table(queries, "subscriptions")
      .addColumn("account_id", "text", (column) => column.primaryKey().references("accounts.id"))
      .addColumn("plan", "text", (column) => column.notNull())
      .addColumn("status", "text", (column) => column.notNull())
      .addColumn("reference", "text", (column) => column.notNull())
      .addColumn("since", "bigint", (column) => column.notNull())
      .addColumn("event_at", "bigint", (column) => column.notNull()),
    table(queries, "payment_events")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("received_at", "bigint", (column) => column.notNull()),
    table(queries, "removed_changes")
      .addColumn("account_id", "text", (column) => column.primaryKey().references("accounts.id"))
      .addColumn("sequence", "bigint", (column) => column.notNull())
      .addColumn("hash", "text", (column) => column.notNull()),
  ];
}

function codeTables(queries: Queries): Compilable[] {
  return [
    table(queries, "access_codes")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("hash", "text", (column) => column.notNull().unique())
      .addColumn("note", "text")
      .addColumn("uses_left", "integer", (column) => column.notNull().check(sql`uses_left >= 0`))
      .addColumn("expires_at", "bigint")
      .addColumn("revoked_at", "bigint")
      .addColumn("created_at", "bigint", (column) => column.notNull()),
    table(queries, "mail_tokens")
      .addColumn("hash", "text", (column) => column.primaryKey())
      .addColumn("account_id", "text", (column) => column.notNull().references("accounts.id"))
      .addColumn("purpose", "text", (column) => column.notNull())
      .addColumn("email", "text", (column) => column.notNull())
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .addColumn("used_at", "bigint"),
    table(queries, "mail_requests")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("purpose", "text", (column) => column.notNull())
      .addColumn("email", "text", (column) => column.notNull())
      .addColumn("attempts", "integer", (column) => column.notNull())
      .addColumn("not_before", "bigint", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull()),
    table(queries, "invites")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("account_id", "text", (column) => column.notNull().references("accounts.id"))
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("hash", "text", (column) => column.notNull().unique())
      .addColumn("scopes_json", "text")
      .addColumn("vault_ids_json", "text")
      .addColumn("key_expires_at", "bigint")
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .addColumn("used_at", "bigint")
      .addColumn("revoked_at", "bigint")
      .addColumn("key_id", "text")
      .addColumn("chain_address", "text")
      .addColumn("address_proof", "text")
      .addColumn("created_at", "bigint", (column) => column.notNull()),
  ];
}

function table({ build }: Queries, name: keyof Tables): CreateTableBuilder<string> {
  return build.schema.createTable(name);
}

type IndexColumn = string | ReturnType<typeof sql>;

function indexes({ build: { schema } }: Queries): Compilable[] {
  const index = (on: keyof Tables, name: string, columns: readonly IndexColumn[]) =>
    schema
      .createIndex(`${on}_${name}`)
      .on(on)
      .columns([...columns]);
  const newestFirst = [sql`created_at desc`, sql`id desc`];
  return [
    // One address belongs to one account (decisions §4): also where two requests link it at the same time.
    index("accounts", "chain_address", ["chain_address"])
      .unique()
      .where(sql<boolean>`chain_address is not null`),
    index("accounts", "identity", ["idp_id", "idp_issuer"]).unique(),
    index("api_keys", "chain_address", ["chain_address"]).where(sql<boolean>`chain_address is not null`),
    index("sessions", "newest", ["account_id", ...newestFirst]),
    index("sessions", "expires_at", ["expires_at"]),
    index("refresh_tokens", "session", ["session_id"]),
    index("refresh_tokens", "expires_at", ["expires_at"]),
    index("sign_ins", "expires_at", ["expires_at"]),
    index("chain_challenges", "account", ["account_id"]),
    index("chain_challenges", "expires_at", ["expires_at"]),
    index("mail_tokens", "account", ["account_id", "purpose"]),
    index("mail_tokens", "expires_at", ["expires_at"]),
    index("mail_requests", "not_before", ["not_before"]),
    index("invites", "newest", ["account_id", ...newestFirst]),
    index("payment_events", "received_at", ["received_at"]),
    index("changes", "occurred_at", ["occurred_at"]),
    index("changes", "action", ["account_id", "action", "sequence"]),
  ];
}

/** Webhook endpoints, their deliveries and attempts, and how far each account's changes have been handed on. Columns: ports/tables.ts. */
import { type Compilable, type CreateTableBuilder, sql } from "kysely";
import type { Queries } from "../ports/database.ts";
import type { Tables } from "../ports/tables.ts";
import type { Migration } from "./migration.ts";

export const webhooks: Migration = {
  version: 3,
  name: "webhooks",
  async up(queries) {
    const { schema } = queries.build;
    await queries.run(schema.alterTable("changes").addColumn("object_json", "text"));
    for (const statement of [...tables(queries), ...indexes(queries)]) await queries.run(statement);
  },
};

function tables(queries: Queries): Compilable[] {
  return [
    table(queries, "webhooks")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("account_id", "text", (column) => column.notNull().references("accounts.id"))
      .addColumn("url", "text", (column) => column.notNull())
      .addColumn("events_json", "text", (column) => column.notNull())
      .addColumn("description", "text", (column) => column.notNull())
      .addColumn("active", "integer", (column) => column.notNull())
      .addColumn("secret", "text", (column) => column.notNull())
      .addColumn("previous_secret", "text")
      .addColumn("previous_secret_ends_at", "bigint")
      .addColumn("last_delivery_status", "text", (column) => column.notNull())
      .addColumn("last_delivery_at", "bigint")
      .addColumn("failure_count", "integer", (column) => column.notNull())
      .addColumn("failing_since", "bigint")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull()),
    table(queries, "webhook_cursors")
      .addColumn("account_id", "text", (column) => column.primaryKey().references("accounts.id"))
      .addColumn("sequence", "bigint", (column) => column.notNull())
      .addColumn("mailed_at", "bigint"),
    table(queries, "webhook_deliveries")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("webhook_id", "text", (column) => column.notNull().references("webhooks.id").onDelete("cascade"))
      .addColumn("message_id", "text", (column) => column.notNull())
      .addColumn("event", "text", (column) => column.notNull())
      .addColumn("sequence", "bigint", (column) => column.notNull())
      .addColumn("payload", "text", (column) => column.notNull())
      .addColumn("trigger", "text", (column) => column.notNull())
      .addColumn("status", "text", (column) => column.notNull())
      .addColumn("attempts", "integer", (column) => column.notNull())
      .addColumn("max_attempts", "integer", (column) => column.notNull().check(sql`attempts <= max_attempts`))
      .addColumn("http_status", "integer", (column) => column.notNull())
      .addColumn("last_error", "text", (column) => column.notNull())
      .addColumn("next_attempt_at", "bigint")
      .addColumn("lease_until", "bigint")
      .addColumn("last_attempt_at", "bigint")
      .addColumn("completed_at", "bigint")
      .addColumn("created_at", "bigint", (column) => column.notNull()),
    table(queries, "webhook_attempts")
      .addColumn("delivery_id", "text", (column) =>
        column.notNull().references("webhook_deliveries.id").onDelete("cascade"),
      )
      .addColumn("number", "integer", (column) => column.notNull())
      .addColumn("trigger", "text", (column) => column.notNull())
      .addColumn("http_status", "integer", (column) => column.notNull())
      .addColumn("error", "text", (column) => column.notNull())
      .addColumn("duration", "integer", (column) => column.notNull())
      .addColumn("response_body", "text", (column) => column.notNull())
      .addColumn("at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("webhook_attempts_key", ["delivery_id", "number"]),
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
    index("webhooks", "newest", ["account_id", ...newestFirst]),
    index("webhook_deliveries", "newest", ["webhook_id", ...newestFirst]),
    index("webhook_deliveries", "by_status", ["webhook_id", "status", ...newestFirst]),
    // Whether a message has arrived in another delivery.
    index("webhook_deliveries", "message", ["webhook_id", "message_id"]),
    // What is due, endpoint by endpoint, so that one with a long queue never hides the others'.
    index("webhook_deliveries", "due", ["webhook_id", "next_attempt_at"]).where(sql<boolean>`status = 'pending'`),
    index("webhook_deliveries", "leased", ["lease_until"]).where(sql<boolean>`status = 'delivering'`),
    index("webhook_deliveries", "created_at", ["created_at"]),
  ];
}

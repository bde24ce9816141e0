/** What uploads in one request hold of their account's storage while their bytes arrive (decision 0027). */
import type { Migration } from "./migration.ts";

export const uploadHolds: Migration = {
  version: 9,
  name: "upload holds",
  async up(queries) {
    const { schema } = queries.build;
    await queries.run(
      schema
        .createTable("upload_holds")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("account_id", "text", (column) => column.notNull().references("accounts.id"))
        .addColumn("bytes", "bigint", (column) => column.notNull())
        .addColumn("expires_at", "bigint", (column) => column.notNull()),
    );
    await queries.run(
      schema.createIndex("upload_holds_account").on("upload_holds").columns(["account_id", "expires_at"]),
    );
    await queries.run(schema.createIndex("upload_holds_expires_at").on("upload_holds").column("expires_at"));
  },
};

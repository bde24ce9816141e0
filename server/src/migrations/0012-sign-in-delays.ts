/** Waits after wrong passwords, for all processes together. */
import type { Migration } from "./migration.ts";

export const signInDelays: Migration = {
  version: 12,
  name: "sign-in delays",
  async up(queries) {
    const { schema } = queries.build;
    await queries.run(
      schema
        .createTable("sign_in_delays")
        .addColumn("key", "text", (column) => column.primaryKey())
        .addColumn("attempts", "integer", (column) => column.notNull())
        .addColumn("next_at", "bigint", (column) => column.notNull())
        .addColumn("expires_at", "bigint", (column) => column.notNull()),
    );
    await queries.run(schema.createIndex("sign_in_delays_expires_at").on("sign_in_delays").column("expires_at"));
  },
};

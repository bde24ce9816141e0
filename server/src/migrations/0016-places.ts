/** Vault keys belong to places: a membership that ends by itself makes a new one within the generation. */
import { sql } from "kysely";
import type { Migration } from "./migration.ts";

export const places: Migration = {
  version: 16,
  name: "places",
  async up(queries) {
    const { schema } = queries.build;
    const add = schema.alterTable("vault_keys").addColumn("after", "bigint", (column) => column.notNull().defaultTo(0));
    await queries.run(add);
    await queries.run(schema.dropIndex("vault_keys_current"));
    await queries.run(
      schema
        .createIndex("vault_keys_current")
        .unique()
        .on("vault_keys")
        .columns(["vault_id", "generation", "after"])
        .where(sql.ref("replaced_at"), "is", null),
    );
  },
};

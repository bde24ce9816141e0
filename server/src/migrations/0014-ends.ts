/** When memberships end by themselves, as the service last saw it on the chain, and what invites promise of it. */
import type { Migration } from "./migration.ts";

export const ends: Migration = {
  version: 14,
  name: "ends",
  async up(queries) {
    const { schema } = queries.build;
    await queries.run(schema.alterTable("vault_members").addColumn("ends_at", "bigint"));
    await queries.run(schema.alterTable("vault_members").addColumn("ended_at", "bigint"));
    await queries.run(schema.createIndex("vault_members_end").on("vault_members").columns(["ended_at", "ends_at"]));
    await queries.run(schema.alterTable("invites").addColumn("access_until", "bigint"));
  },
};

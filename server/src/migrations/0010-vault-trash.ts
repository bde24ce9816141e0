/** The trash of vaults: a vault that lies there gives its name free. */
import { sql } from "kysely";
import type { Migration } from "./migration.ts";

export const vaultTrash: Migration = {
  version: 10,
  name: "vault trash",
  async up(queries) {
    const { schema } = queries.build;
    const isTrashed = sql<boolean>`trashed_at is not null`;
    for (const statement of [
      schema.alterTable("vaults").addColumn("trashed_at", "bigint"),
      schema.dropIndex("vaults_name"),
      schema
        .createIndex("vaults_live_name")
        .unique()
        .on("vaults")
        .columns(["account_id", "name"])
        .where(sql<boolean>`trashed_at is null`),
      schema.createIndex("vaults_trashed").on("vaults").columns(["account_id", "id"]).where(isTrashed),
      schema.createIndex("vaults_trashed_at").on("vaults").column("trashed_at").where(isTrashed),
    ])
      await queries.run(statement);
  },
};

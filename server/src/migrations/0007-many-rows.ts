/** Indexes for the rows of a deleted vault, and for the records of a generation: there may be many of both. */
import type { Migration } from "./migration.ts";

export const manyRows: Migration = {
  version: 7,
  name: "many rows",
  async up(queries) {
    const { schema } = queries.build;
    await queries.run(schema.createIndex("file_versions_in_vault").on("file_versions").column("vault_id"));
    const ofGeneration = ["vault_id", "generation", "created_at", "key_id"];
    await queries.run(schema.createIndex("vault_keys_of_generation").on("vault_keys").columns(ofGeneration));
  },
};

/** What the change feed filters by (decision 0052): actor and place of each change, with an index for every filter. */
import { sql } from "kysely";
import { dialectOf } from "../ports/database.ts";
import type { Migration } from "./migration.ts";

const FILTERS = ["actor_id", "actor_address", "vault_id", "folder_id"] as const;

export const changeFilters: Migration = {
  version: 19,
  name: "change-filters",
  async up(queries) {
    const { schema } = queries.build;
    for (const column of FILTERS) await queries.run(schema.alterTable("changes").addColumn(column, "text"));
    const fill = sql`update changes set
      actor_id = json_extract(actor_json, '$.id'),
      actor_address = json_extract(actor_json, '$.chainAddress'),
      vault_id = json_extract(target_json, '$.vaultId'),
      folder_id = coalesce(json_extract(object_json, '$.folderId'), json_extract(object_json, '$.parentId'))
      where json_valid(actor_json) and json_valid(target_json) and json_valid(coalesce(object_json, '{}'))`;
    // No PostgreSQL had changes before this step: servers use it since a later one.
    if (dialectOf(queries) === "sqlite") await queries.run({ compile: () => fill.compile(queries.build) });
    for (const column of FILTERS)
      await queries.run(
        schema
          .createIndex(`changes_${column}`)
          .on("changes")
          .columns(["account_id", column, "sequence"])
          .where(sql.ref(column), "is not", null),
      );
  },
};

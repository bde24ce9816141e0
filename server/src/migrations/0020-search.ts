/** The index of names (decision 0053): an entry for each file whose name the service can read. */
import { sql } from "kysely";
import { addEntries } from "../features/search-index/store.ts";
import { createTerms, mergeTerms } from "../features/search-index/terms-store.ts";
import type { Queries } from "../ports/database.ts";
import type { Migration } from "./migration.ts";

const FILES = 500;

export const search: Migration = {
  version: 20,
  name: "search",
  async up(queries) {
    const { schema } = queries.build;
    await queries.run(schema.alterTable("files").addColumn("search_id", "bigint"));
    await queries.run(schema.createIndex("files_search").unique().on("files").column("search_id"));
    // A small trash is read as it is; a large one is as good as any other condition.
    await queries.run(
      schema
        .createIndex("files_search_trashed")
        .on("files")
        .columns(["account_id", "search_id"])
        .where(sql<boolean>`trashed_at is not null`),
    );
    await queries.run(
      schema
        .createTable("search_scopes")
        .addColumn("account_id", "text", (column) => column.primaryKey().references("accounts.id").onDelete("cascade"))
        .addColumn("number", "bigint", (column) =>
          column
            .notNull()
            .unique()
            .check(sql`number < 4194304`),
        )
        // The lowest id so far: the newest file's.
        .addColumn("next", "bigint", (column) => column.notNull().check(sql`next >= 0`)),
    );
    await createTerms(queries);
    await indexFiles(queries);
    await mergeTerms(queries);
  },
};

/** Entries for all files that have none. */
export async function indexFiles(queries: Queries): Promise<void> {
  const { build } = queries;
  const ids = (await queries.all(build.selectFrom("files").select("id").orderBy("created_at").orderBy("id"))).map(
    ({ id }) => id,
  );
  for (let at = 0; at < ids.length; at += FILES) {
    const files = build
      .selectFrom("files")
      .select(["id", "account_id", "vault_id", "folder_id", "name", "content_type", "shared_json", "created_at"])
      .select(["created_by", "updated_by"])
      .where("id", "in", ids.slice(at, at + FILES))
      .orderBy("created_at")
      .orderBy("id");
    await addEntries(queries, await queries.all(files));
  }
}

/** The SQL of emptying the trash. */
import { type SelectQueryBuilder, sql } from "kysely";
import type { Queries } from "../../ports/database.ts";
import type { FileRow, FolderRow, Tables, VaultRow } from "../../ports/tables.ts";

export interface TrashScope {
  readonly accountId: string;
  /** One at least, of one account no more than a list of ids can be; absent: all. */
  readonly vaultIds?: readonly string[];
  /** In the trash since then at least. */
  readonly until?: number;
}

/** Those of the vaults that have a file or a folder in their trash. */
export async function findVaultsWithTrash(
  queries: Queries,
  vaultIds: readonly string[],
): Promise<Pick<VaultRow, "id" | "name">[]> {
  if (vaultIds.length === 0) return [];
  const query = queries.build
    .selectFrom("vaults")
    .select(["id", "name"])
    .where("id", "in", [...vaultIds])
    .where((row) => {
      const inTrash = (table: "files" | "folders") =>
        row.exists(
          row
            .selectFrom(table)
            .select(`${table}.id`)
            .whereRef(`${table}.account_id`, "=", "vaults.account_id")
            .whereRef(`${table}.vault_id`, "=", "vaults.id")
            .where(`${table}.trashed_at`, "is not", null),
        );
      return row.or([inTrash("files"), inTrash("folders")]);
    })
    .orderBy("id");
  return queries.all(query);
}

/** Some of the files in the trash, at most `count`. */
export function findTrashedFiles(queries: Queries, scope: TrashScope, count: number): Promise<FileRow[]> {
  return queries.all(inScope(queries.build.selectFrom("files").selectAll(), scope).limit(count));
}

/** Some of the folders in the trash that hold nothing any more, at most `count`: the deepest go first. */
export function findEmptyTrashedFolders(queries: Queries, scope: TrashScope, count: number): Promise<FolderRow[]> {
  const query = queries.build
    .selectFrom("folders")
    .selectAll()
    // An act on a folder may be bringing them back, and the deletion of a vault removes its own.
    .where(
      sql<boolean>`not exists (select 1 from tree_acts where tree_acts.vault_id = folders.vault_id)
        and not exists (select 1 from vaults as home where home.id = folders.vault_id and home.purging_bytes is not null)`,
    )
    .where((eb) =>
      eb.not(
        eb.exists(eb.selectFrom("folders as below").select("below.id").whereRef("below.parent_id", "=", "folders.id")),
      ),
    )
    .where((eb) =>
      eb.not(eb.exists(eb.selectFrom("files").select("files.id").whereRef("files.folder_id", "=", "folders.id"))),
    );
  // Both tables have the columns that are asked for.
  const scoped = inScope(query as unknown as SelectQueryBuilder<Tables, "files", FolderRow>, scope);
  return queries.all(scoped.limit(count));
}

function inScope<Row>(
  query: SelectQueryBuilder<Tables, "files", Row>,
  { accountId, vaultIds, until }: TrashScope,
): SelectQueryBuilder<Tables, "files", Row> {
  const ofVaults = vaultIds === undefined ? query : query.where("vault_id", "in", [...vaultIds]);
  const trashed =
    until === undefined ? ofVaults.where("trashed_at", "is not", null) : ofVaults.where("trashed_at", "<=", until);
  return trashed.where("account_id", "=", accountId);
}

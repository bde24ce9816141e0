/** The SQL of emptying the trash. */
import type { Queries } from "../../ports/database.ts";
import type { FileRow, FolderRow, VaultRow } from "../../ports/tables.ts";
import { dropStagedOfFolder } from "../folder-names/staged-store.ts";

export interface TrashScope {
  readonly accountId: string;
  /** One at least, of one account no more than a list of ids can be. */
  readonly vaultIds: readonly string[];
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
export function findTrashedFiles(
  queries: Queries,
  { accountId, vaultIds }: TrashScope,
  count: number,
): Promise<FileRow[]> {
  const query = queries.build
    .selectFrom("files")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("vault_id", "in", [...vaultIds])
    .where("trashed_at", "is not", null);
  return queries.all(query.limit(count));
}

/** Some of the folders in the trash that hold nothing any more, at most `count`: the deepest go first. */
export function findEmptyTrashedFolders(
  queries: Queries,
  { accountId, vaultIds }: TrashScope,
  count: number,
): Promise<FolderRow[]> {
  const query = queries.build
    .selectFrom("folders")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("vault_id", "in", [...vaultIds])
    .where("trashed_at", "is not", null)
    .where((eb) =>
      eb.not(
        eb.exists(eb.selectFrom("folders as below").select("below.id").whereRef("below.parent_id", "=", "folders.id")),
      ),
    )
    .where((eb) =>
      eb.not(eb.exists(eb.selectFrom("files").select("files.id").whereRef("files.folder_id", "=", "folders.id"))),
    );
  return queries.all(query.limit(count));
}

/** With the key of its name indexes, which nothing else would ever remove. */
export async function deleteFolderRow(
  transaction: Queries,
  { id, vault_id, shared_json }: Pick<FolderRow, "id" | "vault_id" | "shared_json">,
): Promise<void> {
  const { build } = transaction;
  await transaction.run(build.deleteFrom("folders").where("id", "=", id));
  if (shared_json === null) return;
  await transaction.run(build.deleteFrom("folder_keys").where("vault_id", "=", vault_id).where("folder_id", "=", id));
  await dropStagedOfFolder(transaction, { vaultId: vault_id, folderId: id });
}

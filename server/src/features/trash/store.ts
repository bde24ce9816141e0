/** The SQL of emptying the trash. */
import type { Session } from "../../ports/database.ts";
import type { FileRow, FolderRow } from "../../ports/tables.ts";
import { dropStagedOfFolder } from "../folder-names/staged-store.ts";

export interface TrashScope {
  readonly accountId: string;
  /** null: all vaults. */
  readonly vaultIds: readonly string[] | null;
}

/** Some of the files in the trash, at most `count`. */
export function findTrashedFiles(
  session: Session,
  { accountId, vaultIds }: TrashScope,
  count: number,
): Promise<FileRow[]> {
  let query = session.build
    .selectFrom("files")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("trashed_at", "is not", null);
  if (vaultIds !== null) query = query.where("vault_id", "in", [...vaultIds]);
  return session.all(query.limit(count));
}

/** Some of the folders in the trash that hold nothing any more, at most `count`: the deepest go first. */
export function findEmptyTrashedFolders(
  session: Session,
  { accountId, vaultIds }: TrashScope,
  count: number,
): Promise<FolderRow[]> {
  let query = session.build
    .selectFrom("folders")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("trashed_at", "is not", null)
    .where((eb) =>
      eb.not(
        eb.exists(eb.selectFrom("folders as below").select("below.id").whereRef("below.parent_id", "=", "folders.id")),
      ),
    )
    .where((eb) =>
      eb.not(eb.exists(eb.selectFrom("files").select("files.id").whereRef("files.folder_id", "=", "folders.id"))),
    );
  if (vaultIds !== null) query = query.where("vault_id", "in", [...vaultIds]);
  return session.all(query.limit(count));
}

/** With the key of its name indexes, which nothing else would ever remove. */
export async function deleteFolderRow(
  transaction: Session,
  { id, vault_id, shared_json }: Pick<FolderRow, "id" | "vault_id" | "shared_json">,
): Promise<void> {
  const { build } = transaction;
  await transaction.run(build.deleteFrom("folders").where("id", "=", id));
  if (shared_json === null) return;
  await transaction.run(build.deleteFrom("folder_keys").where("vault_id", "=", vault_id).where("folder_id", "=", id));
  await dropStagedOfFolder(transaction, { vaultId: vault_id, folderId: id });
}

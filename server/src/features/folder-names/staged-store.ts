/** The SQL of names that wait under their folder's next key. */
import { sql } from "kysely";
import { prepared, type Session } from "../../ports/database.ts";
import type { StagedNameRow } from "../../ports/tables.ts";
import type { FolderOfVault } from "./store.ts";

const folderOrNone = sql<string>`coalesce(folder_id, '')`;
const parentOrNone = sql<string>`coalesce(parent_id, '')`;

const dropOthers = prepared((build, value: { vaultId: string; folderId: string; keyId: string }) =>
  build
    .deleteFrom("staged_names")
    .where("vault_id", "=", value.vaultId)
    .where("folder_id", "=", value.folderId)
    .where("key_id", "!=", value.keyId),
);

/** Forgets what waits under other keys than the one: a key that was replaced, or whose generation is over, does not come back. */
export async function dropStagedUnderOthers(
  transaction: Session,
  { vaultId, folderId }: FolderOfVault,
  keyId: string,
): Promise<void> {
  await transaction.run(dropOthers(transaction, { vaultId, folderId, keyId }));
}

/** Takes the place of what was staged of the same entry under the same key. */
export async function putStaged(transaction: Session, row: StagedNameRow): Promise<void> {
  const { vault_id: _vault, folder_id: _folder, key_id: _key, item_id: _item, ...changing } = row;
  await transaction.run(
    transaction.build
      .insertInto("staged_names")
      .values(row)
      .onConflict((conflict) => conflict.columns(["vault_id", "folder_id", "key_id", "item_id"]).doUpdateSet(changing)),
  );
}

const stagedOf = prepared((build, value: { vaultId: string; folderId: string; keyId: string }) =>
  build
    .selectFrom("staged_names")
    .selectAll()
    .where("vault_id", "=", value.vaultId)
    .where("folder_id", "=", value.folderId)
    .where("key_id", "=", value.keyId),
);

/** What is staged for the folder under the key, by the entry's id. */
export async function readStaged(
  session: Session,
  { vaultId, folderId }: FolderOfVault,
  keyId: string,
): Promise<ReadonlyMap<string, StagedNameRow>> {
  const rows = await session.all(stagedOf(session, { vaultId, folderId, keyId }));
  return new Map(rows.map((row) => [row.item_id, row]));
}

const unstagedFiles = prepared((build, value: { vaultId: string; folderId: string; keyId: string }) =>
  build
    .selectFrom("files")
    .select((row) => row.fn.countAll<number | string>().as("count"))
    .where("vault_id", "=", value.vaultId)
    .where(folderOrNone, "=", value.folderId)
    .where("trashed_at", "is", null)
    .where((row) =>
      row.not(
        row.exists(
          row
            .selectFrom("staged_names")
            .select("item_id")
            .where("staged_names.vault_id", "=", value.vaultId)
            .where("staged_names.folder_id", "=", value.folderId)
            .where("staged_names.key_id", "=", value.keyId)
            .whereRef("staged_names.item_id", "=", "files.id"),
        ),
      ),
    ),
);

const unstagedFolders = prepared((build, value: { vaultId: string; folderId: string; keyId: string }) =>
  build
    .selectFrom("folders")
    .select((row) => row.fn.countAll<number | string>().as("count"))
    .where("vault_id", "=", value.vaultId)
    .where(parentOrNone, "=", value.folderId)
    .where("trashed_at", "is", null)
    .where((row) =>
      row.not(
        row.exists(
          row
            .selectFrom("staged_names")
            .select("item_id")
            .where("staged_names.vault_id", "=", value.vaultId)
            .where("staged_names.folder_id", "=", value.folderId)
            .where("staged_names.key_id", "=", value.keyId)
            .whereRef("staged_names.item_id", "=", "folders.id"),
        ),
      ),
    ),
);

/** Live entries without a staged name under the key. What is staged may be stale. */
export async function countUnstaged(
  session: Session,
  { vaultId, folderId }: FolderOfVault,
  keyId: string,
): Promise<number> {
  let count = 0;
  for (const query of [unstagedFiles, unstagedFolders])
    count += Number((await session.first(query(session, { vaultId, folderId, keyId })))?.count ?? 0);
  return count;
}

const dropOne = prepared((build, value: { vaultId: string; folderId: string; keyId: string; itemId: string }) =>
  build
    .deleteFrom("staged_names")
    .where("vault_id", "=", value.vaultId)
    .where("folder_id", "=", value.folderId)
    .where("key_id", "=", value.keyId)
    .where("item_id", "=", value.itemId),
);

/** Forgets what was staged of an entry that has changed since. */
export async function dropStagedName(
  transaction: Session,
  { vaultId, folderId }: FolderOfVault,
  staged: { readonly keyId: string; readonly itemId: string },
): Promise<void> {
  await transaction.run(dropOne(transaction, { vaultId, folderId, ...staged }));
}

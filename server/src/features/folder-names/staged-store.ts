/** The SQL of names that wait under their folder's next key. */
import { prepared, type Queries } from "../../ports/database.ts";
import type { StagedNameRow } from "../../ports/tables.ts";
import { PIECE, untilNoneIsLeft } from "../in-pieces.ts";
import { ITEM_KINDS } from "../reach/kinds.ts";
import { countLive, type FolderOfVault, setFolderKey } from "./store.ts";

/** Another key than the one: before it, or behind it on the index. */
const OTHER_KEYS = (["<", ">"] as const).map((side) =>
  prepared((build, value: { vaultId: string; folderId: string; keyId: string }) =>
    build
      .selectFrom("staged_names")
      .select("key_id")
      .where("vault_id", "=", value.vaultId)
      .where("folder_id", "=", value.folderId)
      .where("key_id", side, value.keyId)
      .limit(1),
  ),
);

/** Forgets what waits under other keys than the one: a key that was replaced, or whose generation is over, does not come back. */
export async function dropStagedUnderOthers(
  transaction: Queries,
  { vaultId, folderId }: FolderOfVault,
  keyId: string,
): Promise<void> {
  for (const query of OTHER_KEYS) {
    for (;;) {
      const other = await transaction.first(query(transaction, { vaultId, folderId, keyId }));
      if (other === null) break;
      await dropStagedUnder(transaction, { vaultId, folderId }, other.key_id);
    }
  }
}

/** Forgets all that waits for the folder. */
export function dropStagedOfFolder(transaction: Queries, folder: FolderOfVault): Promise<void> {
  return dropStagedUnderOthers(transaction, folder, "");
}

const dropKey = prepared((build, value: { vaultId: string; folderId: string }) =>
  build.deleteFrom("folder_keys").where("vault_id", "=", value.vaultId).where("folder_id", "=", value.folderId),
);

/** For a folder that is deleted for good: the key of its name indexes, and what was staged under another, which nothing else would remove. */
export async function dropFolderNames(transaction: Queries, folder: FolderOfVault): Promise<void> {
  await transaction.run(dropKey(transaction, { ...folder }));
  await dropStagedOfFolder(transaction, folder);
}

/** Changes the folder's key where its names need not change with it: what was staged is for nothing. */
export async function resetFolderKey(transaction: Queries, folder: FolderOfVault, keyId: string): Promise<void> {
  await setFolderKey(transaction, folder, keyId);
  await dropStagedOfFolder(transaction, folder);
}

const dropSome = prepared((build, value: { vaultId: string; folderId: string; keyId: string }) =>
  build
    .deleteFrom("staged_names")
    .where("vault_id", "=", value.vaultId)
    .where("folder_id", "=", value.folderId)
    .where("key_id", "=", value.keyId)
    .where("item_id", "in", (eb) =>
      eb
        .selectFrom("staged_names")
        .select("item_id")
        .where("vault_id", "=", value.vaultId)
        .where("folder_id", "=", value.folderId)
        .where("key_id", "=", value.keyId)
        .limit(PIECE),
    ),
);

/** Some of what waits under the key, at most {@link PIECE}; answers how many. */
export function dropSomeStaged(
  transaction: Queries,
  { vaultId, folderId }: FolderOfVault,
  keyId: string,
): Promise<number> {
  return transaction.run(dropSome(transaction, { vaultId, folderId, keyId }));
}

async function dropStagedUnder(transaction: Queries, folder: FolderOfVault, keyId: string): Promise<void> {
  await untilNoneIsLeft(() => dropSomeStaged(transaction, folder, keyId));
}

/** Takes the place of what was staged of the same entry under the same key. */
export async function putStaged(transaction: Queries, row: StagedNameRow): Promise<void> {
  const { vault_id: _vault, folder_id: _folder, key_id: _key, item_id: _item, ...changing } = row;
  await transaction.run(
    transaction.build
      .insertInto("staged_names")
      .values(row)
      .onConflict((conflict) => conflict.columns(["vault_id", "folder_id", "key_id", "item_id"]).doUpdateSet(changing)),
  );
}

const stagedUnder = prepared((build, value: { vaultId: string; folderId: string; keyId: string }) =>
  build
    .selectFrom("staged_names")
    .select((row) => row.fn.countAll<number | string>().as("count"))
    .where("vault_id", "=", value.vaultId)
    .where("folder_id", "=", value.folderId)
    .where("key_id", "=", value.keyId),
);

/**
 * How many live entries lack a staged name under the key, at least: staged names may belong to entries that have gone
 * or changed. Read off two indexes, for every call that stages some of the folder.
 */
export async function countUnstaged(queries: Queries, folder: FolderOfVault, keyId: string): Promise<number> {
  const [files = 0, folders = 0] = await Promise.all(ITEM_KINDS.map((kind) => countLive(queries, kind, folder)));
  const staged = await queries.first(stagedUnder(queries, { ...folder, keyId }));
  return files + folders - Number(staged?.count ?? 0);
}

const dropOne = prepared((build, value: { vaultId: string; folderId: string; keyId: string; itemId: string }) =>
  build
    .deleteFrom("staged_names")
    .where("vault_id", "=", value.vaultId)
    .where("folder_id", "=", value.folderId)
    .where("key_id", "=", value.keyId)
    .where("item_id", "=", value.itemId),
);

/** Forgets what was staged of an entry that has changed since, or is there no more. */
export async function dropStagedName(
  transaction: Queries,
  { vaultId, folderId }: FolderOfVault,
  staged: { readonly keyId: string; readonly itemId: string },
): Promise<void> {
  await transaction.run(dropOne(transaction, { vaultId, folderId, ...staged }));
}

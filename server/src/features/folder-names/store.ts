/** The SQL of the keys of folders' name indexes, and of names that wait under the next one. */
import { sql } from "kysely";
import { prepared, type Session } from "../../ports/database.ts";
import type { FolderKeyRow, StagedNameRow } from "../../ports/tables.ts";

/** A folder in a vault; "" is the top, as in the tables. */
export interface FolderOfVault {
  readonly vaultId: string;
  readonly folderId: string;
}

const keyOf = prepared((build, value: { vaultId: string; folderId: string }) =>
  build
    .selectFrom("folder_keys")
    .select("key_id")
    .where("vault_id", "=", value.vaultId)
    .where("folder_id", "=", value.folderId),
);

/** The vault key of the folder's name indexes; null: nothing was ever put there. */
export async function findFolderKey(session: Session, { vaultId, folderId }: FolderOfVault): Promise<string | null> {
  return (await session.first(keyOf(session, { vaultId, folderId })))?.key_id ?? null;
}

const hold = prepared((build, value: { vaultId: string; folderId: string }) =>
  build
    .updateTable("folder_keys")
    .set((row) => ({ key_id: row.ref("key_id") }))
    .where("vault_id", "=", value.vaultId)
    .where("folder_id", "=", value.folderId)
    .returning("key_id"),
);

/** The same, and nobody else's change of it until the transaction ends, also where writers run side by side. */
export async function holdFolderKey(
  transaction: Session,
  { vaultId, folderId }: FolderOfVault,
): Promise<string | null> {
  return (await transaction.first(hold(transaction, { vaultId, folderId })))?.key_id ?? null;
}

const generationOf = prepared((build, value: { vaultId: string; keyId: string }) =>
  build
    .selectFrom("vault_keys")
    .select("generation")
    .where("vault_id", "=", value.vaultId)
    .where("key_id", "=", value.keyId),
);

/** The generation of a vault key's record, a replaced one too; null: the vault has no such key. */
export async function findKeyGeneration(
  session: Session,
  value: { vaultId: string; keyId: string },
): Promise<number | null> {
  return (await session.first(generationOf(session, value)))?.generation ?? null;
}

const putKey = prepared((build, row: { [Column in keyof FolderKeyRow]: FolderKeyRow[Column] }) =>
  build
    .insertInto("folder_keys")
    .values({ vault_id: row.vault_id, folder_id: row.folder_id, key_id: row.key_id })
    .onConflict((conflict) => conflict.columns(["vault_id", "folder_id"]).doUpdateSet({ key_id: row.key_id })),
);

const dropStaged = prepared((build, value: { vaultId: string; folderId: string }) =>
  build.deleteFrom("staged_names").where("vault_id", "=", value.vaultId).where("folder_id", "=", value.folderId),
);

/** Changes the folder's key; what was staged has been used, or is for nothing. */
export async function setFolderKey(
  transaction: Session,
  { vaultId, folderId }: FolderOfVault,
  keyId: string,
): Promise<void> {
  await transaction.run(putKey(transaction, { vault_id: vaultId, folder_id: folderId, key_id: keyId }));
  await transaction.run(dropStaged(transaction, { vaultId, folderId }));
}

/** A live file or folder directly in a folder. */
export interface LiveEntry {
  readonly kind: "file" | "folder";
  readonly id: string;
  readonly shared_json: string | null;
}

const folderOrNone = sql<string>`coalesce(folder_id, '')`;
const parentOrNone = sql<string>`coalesce(parent_id, '')`;

const liveFiles = prepared((build, value: { vaultId: string; folderId: string; after: string; count: number }) =>
  build
    .selectFrom("files")
    .select(["id", "shared_json"])
    .where("vault_id", "=", value.vaultId)
    .where(folderOrNone, "=", value.folderId)
    .where("trashed_at", "is", null)
    .where("id", ">", value.after)
    .orderBy("id")
    .limit(value.count),
);

const liveFolders = prepared((build, value: { vaultId: string; folderId: string; after: string; count: number }) =>
  build
    .selectFrom("folders")
    .select(["id", "shared_json"])
    .where("vault_id", "=", value.vaultId)
    .where(parentOrNone, "=", value.folderId)
    .where("trashed_at", "is", null)
    .where("id", ">", value.after)
    .orderBy("id")
    .limit(value.count),
);

/** How many live entries one look takes. */
const BATCH = 500;

/** Whatever lies directly in the folder and is not in the trash. */
export async function* liveEntries(session: Session, { vaultId, folderId }: FolderOfVault): AsyncGenerator<LiveEntry> {
  for (const [kind, query] of [["file", liveFiles] as const, ["folder", liveFolders] as const]) {
    for (let after = ""; ;) {
      const rows = await session.all(query(session, { vaultId, folderId, after, count: BATCH }));
      for (const row of rows) yield { kind, ...row };
      if (rows.length < BATCH) break;
      after = rows.at(-1)?.id ?? after;
    }
  }
}

const liveFile = prepared((build, value: { vaultId: string; id: string }) =>
  build
    .selectFrom("files")
    .select(["folder_id", "shared_json"])
    .where("id", "=", value.id)
    .where("vault_id", "=", value.vaultId)
    .where("trashed_at", "is", null),
);

const liveFolder = prepared((build, value: { vaultId: string; id: string }) =>
  build
    .selectFrom("folders")
    .select(["parent_id as folder_id", "shared_json"])
    .where("id", "=", value.id)
    .where("vault_id", "=", value.vaultId)
    .where("trashed_at", "is", null),
);

/** A live file or folder of the vault with the folder it lies in. */
export function findEntry(
  session: Session,
  kind: "file" | "folder",
  value: { vaultId: string; id: string },
): Promise<{ folder_id: string | null; shared_json: string | null } | null> {
  return session.first((kind === "file" ? liveFile : liveFolder)(session, value));
}

/** Whether anything but the one item lies there. */
export async function holdsOthers(
  session: Session,
  { vaultId, folderId }: FolderOfVault,
  id: string,
): Promise<boolean> {
  for (const query of [liveFiles, liveFolders]) {
    const rows = await session.all(query(session, { vaultId, folderId, after: "", count: 2 }));
    if (rows.some((row) => row.id !== id)) return true;
  }
  return false;
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

/** Live entries without a staged name under the key. What is staged may be stale: see {@link liveEntries}. */
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

const namedFile = prepared((build, value: { id: string; name: string; sharedJson: string }) =>
  build.updateTable("files").set({ name: value.name, shared_json: value.sharedJson }).where("id", "=", value.id),
);

const namedFolder = prepared((build, value: { id: string; name: string; sharedJson: string }) =>
  build.updateTable("folders").set({ name: value.name, shared_json: value.sharedJson }).where("id", "=", value.id),
);

/** Gives an entry its name under another key; rejects with ConstraintError when another entry has it. */
export async function nameEntry(
  transaction: Session,
  kind: "file" | "folder",
  value: { id: string; name: string; sharedJson: string },
): Promise<void> {
  await transaction.run((kind === "file" ? namedFile : namedFolder)(transaction, value));
}

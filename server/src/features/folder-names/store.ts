/** The SQL of the keys of folders' name indexes, and of the entries that have them. */
import { sql } from "kysely";
import { prepared, type Queries } from "../../ports/database.ts";
import type { FolderKeyRow } from "../../ports/tables.ts";

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
export async function findFolderKey(queries: Queries, { vaultId, folderId }: FolderOfVault): Promise<string | null> {
  return (await queries.first(keyOf(queries, { vaultId, folderId })))?.key_id ?? null;
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
  queries: Queries,
  value: { vaultId: string; keyId: string },
): Promise<number | null> {
  return (await queries.first(generationOf(queries, value)))?.generation ?? null;
}

const putKey = prepared((build, row: { [Column in keyof FolderKeyRow]: FolderKeyRow[Column] }) =>
  build
    .insertInto("folder_keys")
    .values({ vault_id: row.vault_id, folder_id: row.folder_id, key_id: row.key_id })
    .onConflict((conflict) => conflict.columns(["vault_id", "folder_id"]).doUpdateSet({ key_id: row.key_id })),
);

/** Changes the folder's key. What was staged under another is of no use then: see `resetFolderKey`. */
export async function setFolderKey(
  transaction: Queries,
  { vaultId, folderId }: FolderOfVault,
  keyId: string,
): Promise<void> {
  await transaction.run(putKey(transaction, { vault_id: vaultId, folder_id: folderId, key_id: keyId }));
}

/** A live file or folder directly in a folder. */
export interface LiveEntry {
  readonly kind: "file" | "folder";
  readonly id: string;
  readonly shared_json: string | null;
}

const folderOrNone = sql<string>`coalesce(folder_id, '')`;
const parentOrNone = sql<string>`coalesce(parent_id, '')`;

/** Names are unique in a folder: in their order the entries are read off the index of names. */
const liveFiles = prepared((build, value: { vaultId: string; folderId: string; after: string; count: number }) =>
  build
    .selectFrom("files")
    .select(["id", "name", "shared_json"])
    .where("vault_id", "=", value.vaultId)
    .where(folderOrNone, "=", value.folderId)
    .where("trashed_at", "is", null)
    .where("name", ">", value.after)
    .orderBy("name")
    .limit(value.count),
);

const liveFolders = prepared((build, value: { vaultId: string; folderId: string; after: string; count: number }) =>
  build
    .selectFrom("folders")
    .select(["id", "name", "shared_json"])
    .where("vault_id", "=", value.vaultId)
    .where(parentOrNone, "=", value.folderId)
    .where("trashed_at", "is", null)
    .where("name", ">", value.after)
    .orderBy("name")
    .limit(value.count),
);

/** How many live entries one look takes. */
const BATCH = 500;

/** Whatever lies directly in the folder and is not in the trash. */
export async function* liveEntries(queries: Queries, { vaultId, folderId }: FolderOfVault): AsyncGenerator<LiveEntry> {
  for (const [kind, query] of [["file", liveFiles] as const, ["folder", liveFolders] as const]) {
    for (let after = ""; ;) {
      const rows = await queries.all(query(queries, { vaultId, folderId, after, count: BATCH }));
      for (const { id, shared_json } of rows) yield { kind, id, shared_json };
      if (rows.length < BATCH) break;
      after = rows.at(-1)?.name ?? after;
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
  queries: Queries,
  kind: "file" | "folder",
  value: { vaultId: string; id: string },
): Promise<{ folder_id: string | null; shared_json: string | null } | null> {
  return queries.first((kind === "file" ? liveFile : liveFolder)(queries, value));
}

const otherFile = prepared((build, value: { vaultId: string; folderId: string; id: string }) =>
  build
    .selectFrom("files")
    .select("id")
    .where("vault_id", "=", value.vaultId)
    .where(folderOrNone, "=", value.folderId)
    .where("trashed_at", "is", null)
    .where("id", "!=", value.id)
    .limit(1),
);

const otherFolder = prepared((build, value: { vaultId: string; folderId: string; id: string }) =>
  build
    .selectFrom("folders")
    .select("id")
    .where("vault_id", "=", value.vaultId)
    .where(parentOrNone, "=", value.folderId)
    .where("trashed_at", "is", null)
    .where("id", "!=", value.id)
    .limit(1),
);

/** Whether anything but the one item lies there. */
export async function holdsOthers(
  queries: Queries,
  { vaultId, folderId }: FolderOfVault,
  id: string,
): Promise<boolean> {
  for (const query of [otherFile, otherFolder]) {
    if ((await queries.first(query(queries, { vaultId, folderId, id }))) !== null) return true;
  }
  return false;
}

const namedFile = prepared((build, value: { id: string; name: string; sharedJson: string }) =>
  build.updateTable("files").set({ name: value.name, shared_json: value.sharedJson }).where("id", "=", value.id),
);

const namedFolder = prepared((build, value: { id: string; name: string; sharedJson: string }) =>
  build.updateTable("folders").set({ name: value.name, shared_json: value.sharedJson }).where("id", "=", value.id),
);

/** Gives an entry its name under another key; rejects with ConstraintError when another entry has it. */
export async function nameEntry(
  transaction: Queries,
  kind: "file" | "folder",
  value: { id: string; name: string; sharedJson: string },
): Promise<void> {
  await transaction.run((kind === "file" ? namedFile : namedFolder)(transaction, value));
}

/** The SQL of the keys of folders' name indexes, and of the entries that have them. */
import { sql } from "kysely";
import { prepared, type Queries } from "../../ports/database.ts";
import type { Place } from "../reach/places.ts";
import type { FolderKeyRow } from "../../ports/tables.ts";
import { eachKind, ITEM_KINDS, type ItemKind, ITEMS } from "../reach/kinds.ts";
import { placeOrNone, tableOf } from "../reach/store.ts";

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

const placeOf = prepared((build, value: { vaultId: string; keyId: string }) =>
  build
    .selectFrom("vault_keys")
    .select(["generation", "after"])
    .where("vault_id", "=", value.vaultId)
    .where("key_id", "=", value.keyId),
);

/** The place of a vault key's record, a replaced one too; null: the vault has no such key. */
export async function findKeyPlace(queries: Queries, value: { vaultId: string; keyId: string }): Promise<Place | null> {
  return queries.first(placeOf(queries, value));
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
  readonly kind: ItemKind;
  readonly id: string;
  readonly shared_json: string | null;
}

const statements = eachKind((kind) => {
  const table = tableOf(kind);
  const liveIn = (build: Queries["build"], { vaultId, folderId }: FolderOfVault) =>
    build
      .selectFrom(table)
      .where("vault_id", "=", vaultId)
      .where(placeOrNone(kind), "=", folderId)
      .where("trashed_at", "is", null);
  return {
    /** Names are unique in a folder: in their order the entries are read off the index of names. */
    live: prepared((build, value: { vaultId: string; folderId: string; after: string; count: number }) =>
      liveIn(build, value)
        .select(["id", "name", "shared_json"])
        .where("name", ">", value.after)
        .orderBy("name")
        .limit(value.count),
    ),
    one: prepared((build, value: { vaultId: string; id: string }) =>
      build
        .selectFrom(table)
        .select(["shared_json", sql.ref<string | null>(ITEMS[kind].place).as("folder_id")])
        .where("id", "=", value.id)
        .where("vault_id", "=", value.vaultId)
        .where("trashed_at", "is", null),
    ),
    other: prepared((build, value: { vaultId: string; folderId: string; id: string }) =>
      liveIn(build, value).select("id").where("id", "!=", value.id).limit(1),
    ),
    counted: prepared((build, value: { vaultId: string; folderId: string }) =>
      liveIn(build, value).select((row) => row.fn.countAll<number | string>().as("count")),
    ),
    named: prepared((build, value: { id: string; name: string; sharedJson: string }) =>
      build.updateTable(table).set({ name: value.name, shared_json: value.sharedJson }).where("id", "=", value.id),
    ),
  };
});

/** How many live entries one read takes. */
const BATCH = 500;

/** Whatever lies directly in the folder and is not in the trash. */
export async function* liveEntries(queries: Queries, { vaultId, folderId }: FolderOfVault): AsyncGenerator<LiveEntry> {
  for (const kind of ITEM_KINDS) {
    for (let after = ""; ;) {
      const rows = await queries.all(statements[kind].live(queries, { vaultId, folderId, after, count: BATCH }));
      for (const { id, shared_json } of rows) yield { kind, id, shared_json };
      if (rows.length < BATCH) break;
      after = rows.at(-1)?.name ?? after;
    }
  }
}

/** A live file or folder of the vault with the folder it lies in. */
export function findEntry(
  queries: Queries,
  kind: ItemKind,
  value: { vaultId: string; id: string },
): Promise<{ folder_id: string | null; shared_json: string | null } | null> {
  return queries.first(statements[kind].one(queries, value));
}

/** Whether anything but the one item lies there. */
export async function holdsOthers(
  queries: Queries,
  { vaultId, folderId }: FolderOfVault,
  id: string,
): Promise<boolean> {
  for (const kind of ITEM_KINDS) {
    if ((await queries.first(statements[kind].other(queries, { vaultId, folderId, id }))) !== null) return true;
  }
  return false;
}

/** Gives an entry its name under another key; rejects with ConstraintError when another entry has it. */
export async function nameEntry(
  transaction: Queries,
  kind: ItemKind,
  value: { id: string; name: string; sharedJson: string },
): Promise<void> {
  await transaction.run(statements[kind].named(transaction, value));
}

/** How many items of the kind are live there. */
export async function countLive(
  queries: Queries,
  kind: ItemKind,
  { vaultId, folderId }: FolderOfVault,
): Promise<number> {
  return Number((await queries.first(statements[kind].counted(queries, { vaultId, folderId })))?.count ?? 0);
}

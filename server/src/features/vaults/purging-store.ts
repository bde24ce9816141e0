/** The SQL of vaults that are being deleted for good. */
import { type RawBuilder, sql } from "kysely";
import type { Queries } from "../../ports/database.ts";
import type { Tables, VaultRow } from "../../ports/tables.ts";

type InVault = Pick<VaultRow, "id" | "account_id">;

export function listPurging(queries: Queries): Promise<InVault[]> {
  const query = queries.build.selectFrom("vaults").select(["id", "account_id"]);
  return queries.all(query.where("purging_bytes", "is not", null));
}

/** False: another process has deleted the last of it. */
export async function isPurging(queries: Queries, id: string): Promise<boolean> {
  const query = queries.build.selectFrom("vaults").select("id").where("id", "=", id);
  return (await queries.first(query.where("purging_bytes", "is not", null))) !== null;
}

/** Less of it is to be queued for deletion. */
export async function countPurged(transaction: Queries, id: string, bytes: number): Promise<void> {
  if (bytes === 0) return;
  const left = sql<number>`case when purging_bytes > ${bytes} then purging_bytes - ${bytes} else 0 end`;
  await transaction.run(transaction.build.updateTable("vaults").set({ purging_bytes: left }).where("id", "=", id));
}

export async function deletePurged(transaction: Queries, id: string): Promise<void> {
  await transaction.run(transaction.build.deleteFrom("vaults").where("id", "=", id));
}

/** Rows that have bytes, with the columns that name one. */
const KEYS = {
  files: { key: ["id"], blob: sql.ref("blob_key"), size: "size" },
  // The blob of a finished one is a file's or a version's.
  uploads: { key: ["id"], blob: sql`case when finished_file_id is null then blob_key end`, size: "length" },
  file_versions: { key: ["file_id", "version_id"], blob: sql.ref("blob_key"), size: "size" },
} as const;

/** Uploads first: they count until they are gone. */
export const STORED = ["uploads", "files", "file_versions"] as const;

export async function deleteStored(
  transaction: Queries,
  table: (typeof STORED)[number],
  vaultId: string,
  most: number,
): Promise<{ readonly blob_key: string | null; readonly size: number }[]> {
  const { key, blob, size } = KEYS[table];
  const query = sql<{ blob_key: string | null; size: number }>`${deletionOf(table, key, vaultId, most)}
    returning ${blob} as blob_key, ${sql.ref(size)} as size`;
  return transaction.all({ compile: () => query.compile(transaction.build) });
}

/** What else belongs to a vault, with the columns that name a row. */
const RECORD_KEYS = {
  item_entries: ["item_id", "number"],
  staged_names: ["vault_id", "folder_id", "key_id", "item_id"],
  folder_keys: ["vault_id", "folder_id"],
  ladder_steps: ["vault_id", "id"],
  vault_keys: ["vault_id", "key_id"],
  vault_members: ["vault_id", "chain_address"],
} as const;

export const RECORDS = [
  ...(["item_entries", "staged_names", "folder_keys"] as const),
  ...(["ladder_steps", "vault_keys", "vault_members"] as const),
];

/** How many it has deleted. */
export function deleteRecords(
  transaction: Queries,
  table: (typeof RECORDS)[number],
  vaultId: string,
  most: number,
): Promise<number> {
  const query = deletionOf(table, RECORD_KEYS[table], vaultId, most);
  return transaction.run({ compile: () => query.compile(transaction.build) });
}

function deletionOf(table: keyof Tables, key: readonly string[], vaultId: string, most: number): RawBuilder<unknown> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  return sql`delete from ${sql.table(table)} where (${columns}) in
    (select ${columns} from ${sql.table(table)} where vault_id = ${vaultId} limit ${most})`;
}

/** Folders that hold no others: how many it has deleted. */
export function deleteSomeFolders(transaction: Queries, vaultId: string, most: number): Promise<number> {
  const { build } = transaction;
  const leaves = build
    .selectFrom("folders")
    .select("id")
    .where("vault_id", "=", vaultId)
    .where((row) =>
      row.not(
        row.exists(
          row.selectFrom("folders as below").select("below.id").whereRef("below.parent_id", "=", "folders.id"),
        ),
      ),
    )
    .limit(most);
  return transaction.run(build.deleteFrom("folders").where("id", "in", leaves));
}

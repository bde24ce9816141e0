/** The SQL of the jobs. Unlike a feature's, it goes over all accounts. */
import { sql } from "kysely";
import { prepared, type Queries } from "../ports/database.ts";
import { endOf } from "../features/items/retention-store.ts";
import type { DeletionReason } from "../ports/quarantine-tables.ts";
import type { BlobDeletionRow, FileRow, FileVersionRow, UploadRow, VaultRow } from "../ports/tables.ts";

/** Rows looked at in one step: a step is short, so requests run in between. */
export const BATCH = 200;
/** Deletions of one step. */
const DELETED_AT_ONCE = 500;

const expiredUploads = prepared((build, value: { now: number }) =>
  build
    .selectFrom("uploads")
    .select(["id", "blob_key"])
    .where("expires_at", "<=", value.now)
    .orderBy("expires_at")
    .limit(BATCH),
);

export function listExpiredUploads(queries: Queries, now: number): Promise<Pick<UploadRow, "id" | "blob_key">[]> {
  return queries.all(expiredUploads(queries, { now }));
}

const queueUnlessFile = prepared((build, value: { blobKey: string; now: number }) =>
  build
    .insertInto("blob_deletions")
    .columns(["blob_key", "not_before", "account_id", "bytes", "reason"])
    .expression((expression) =>
      expression
        .selectFrom("uploads")
        .select((row) => ["blob_key", row.val(value.now).as("not_before"), "account_id", "length"])
        .select((row) => row.val<DeletionReason>("upload").as("reason"))
        .where("blob_key", "=", value.blobKey)
        .where((row) => row.not(row.exists(row.selectFrom("files").select("id").where("blob_key", "=", value.blobKey))))
        .where((row) =>
          row.not(row.exists(row.selectFrom("file_versions").select("file_id").where("blob_key", "=", value.blobKey))),
        ),
    )
    .onConflict((conflict) => conflict.column("blob_key").doNothing()),
);

/** Queues the bytes of an upload for deletion; those of a finished one are its file's or a kept version's, and stay. */
export async function queueUploadBytes(transaction: Queries, blobKey: string, now: number): Promise<void> {
  await transaction.run(queueUnlessFile(transaction, { blobKey, now }));
}

const removeExpiredUpload = prepared((build, value: { id: string; now: number }) =>
  build.deleteFrom("uploads").where("id", "=", value.id).where("expires_at", "<=", value.now),
);

/** 0 when it is gone already. */
export function deleteExpiredUpload(transaction: Queries, id: string, now: number): Promise<number> {
  return transaction.run(removeExpiredUpload(transaction, { id, now }));
}

const endedVersions = prepared((build, value: { now: number }) =>
  build
    .selectFrom("file_versions")
    .innerJoin("vaults", "vaults.id", "file_versions.vault_id")
    .select(["file_id", "version_id", "vault_id", "account_id"])
    .where("expires_at", "<=", value.now)
    // What its vault keeps for longer by now does not say so yet, and what is left of a file that is gone is counted as gone.
    .where(endOf("file_versions"), "<=", value.now)
    .where((row) =>
      row.not(
        row.exists(row.selectFrom("ended_items").select("item_id").whereRef("item_id", "=", "file_versions.file_id")),
      ),
    )
    .where("purging_bytes", "is", null)
    .orderBy("expires_at")
    .limit(BATCH),
);

/** Replaced versions whose time is over. */
export function listEndedVersions(
  queries: Queries,
  now: number,
): Promise<(Pick<FileVersionRow, "file_id" | "version_id" | "vault_id"> & Pick<VaultRow, "account_id">)[]> {
  return queries.all(endedVersions(queries, { now }));
}

const removeAnswers = prepared((build, value: { now: number }) =>
  build
    .deleteFrom("idempotency")
    .where((row) =>
      row(
        row.refTuple("account_id", "key"),
        "in",
        row
          .selectFrom("idempotency")
          .select(["account_id", "key"])
          .where("expires_at", "<=", value.now)
          .limit(DELETED_AT_ONCE)
          .$asTuple("account_id", "key"),
      ),
    ),
);

/** Some of them; answers how many. */
export function deleteExpiredAnswers(transaction: Queries, now: number): Promise<number> {
  return transaction.run(removeAnswers(transaction, { now }));
}

const dueDeletions = prepared((build, value: { now: number }) =>
  build
    .selectFrom("blob_deletions")
    .selectAll()
    .where("not_before", "<=", value.now)
    .orderBy("not_before")
    .limit(BATCH),
);

/** At most {@link BATCH}. */
export function listDueDeletions(queries: Queries, now: number): Promise<BlobDeletionRow[]> {
  return queries.all(dueDeletions(queries, { now }));
}

export async function deleteFromQueue(transaction: Queries, keys: readonly string[]): Promise<void> {
  await transaction.run(transaction.build.deleteFrom("blob_deletions").where("blob_key", "in", keys));
}

/** Which of the keys a row of the table has. */
export async function keysIn(
  queries: Queries,
  table: "files" | "uploads" | "blob_deletions" | "blob_quarantine" | "file_versions",
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await queries.all(queries.build.selectFrom(table).select("blob_key").where("blob_key", "in", keys));
  return new Set(rows.map((row) => row.blob_key));
}

export async function countFiles(queries: Queries): Promise<number> {
  const query = queries.build.selectFrom("files").select(({ fn }) => fn.countAll<number>().as("count"));
  return (await queries.first(query))?.count ?? 0;
}

const filesAfter = prepared((build, value: { after: string }) =>
  build
    .selectFrom("files")
    .select(["id", "blob_key"])
    .where("blob_key", ">", value.after)
    .orderBy("blob_key")
    .limit(BATCH),
);

/** In the order of their blob keys; fewer than {@link BATCH} only at the end. */
export function listFilesByBlob(queries: Queries, after: string): Promise<Pick<FileRow, "id" | "blob_key">[]> {
  return queries.all(filesAfter(queries, { after }));
}

const fileWithBlob = prepared((build, value: { id: string; blobKey: string }) =>
  build.selectFrom("files").select("id").where("id", "=", value.id).where("blob_key", "=", value.blobKey),
);

export async function fileHasBlob(queries: Queries, id: string, blobKey: string): Promise<boolean> {
  return (await queries.first(fileWithBlob(queries, { id, blobKey }))) !== null;
}

/** Whether nothing large is under way in the vault that a row lies in: it may be coming back, or be counted as gone already. */
const isSettled = (table: string) => {
  const vaultId = sql.ref(`${table}.vault_id`);
  return sql<boolean>`not exists (select 1 from tree_acts where tree_acts.vault_id = ${vaultId})
    and not exists (select 1 from vaults as home where home.id = ${vaultId} and home.purging_bytes is not null)`;
};

const oldTrash = prepared((build, value: { cutoff: number }) =>
  build
    .selectFrom("files")
    .selectAll()
    .where("trashed_at", "<=", value.cutoff)
    .where(isSettled("files"))
    .orderBy("trashed_at")
    .limit(BATCH),
);

export function listOldTrash(queries: Queries, cutoff: number): Promise<FileRow[]> {
  return queries.all(oldTrash(queries, { cutoff }));
}

const oldVaults = prepared((build, value: { cutoff: number }) =>
  build
    .selectFrom("vaults")
    .select(["id", "account_id"])
    .where("trashed_at", "<=", value.cutoff)
    .where("purging_bytes", "is", null)
    .orderBy("trashed_at")
    .limit(BATCH),
);

/** At most {@link BATCH}; the next run goes on. */
export function listOldTrashedVaults(queries: Queries, cutoff: number): Promise<Pick<VaultRow, "id" | "account_id">[]> {
  return queries.all(oldVaults(queries, { cutoff }));
}

const oldVault = prepared((build, value: { id: string; cutoff: number }) =>
  build
    .selectFrom("vaults")
    .selectAll()
    .where("id", "=", value.id)
    .where("trashed_at", "<=", value.cutoff)
    .where("purging_bytes", "is", null),
);

/** null when it has been restored or deleted since it was listed. */
export function findOldTrashedVault(queries: Queries, id: string, cutoff: number): Promise<VaultRow | null> {
  return queries.first(oldVault(queries, { id, cutoff }));
}

const anyEmptyFolder = prepared((build, value: { cutoff: number }) =>
  build
    .selectFrom("folders as empty")
    .select("empty.account_id")
    .where("empty.trashed_at", "<=", value.cutoff)
    .where(isSettled("empty"))
    .where((row) =>
      row.not(row.exists(row.selectFrom("files").select("files.id").whereRef("files.folder_id", "=", "empty.id"))),
    )
    .where((row) =>
      row.not(
        row.exists(row.selectFrom("folders as child").select("child.id").whereRef("child.parent_id", "=", "empty.id")),
      ),
    )
    .limit(1),
);

/** The account of the next empty folder that has been in the trash since then; null: there is none. */
export async function findEmptyFolder(queries: Queries, cutoff: number): Promise<string | null> {
  return (await queries.first(anyEmptyFolder(queries, { cutoff })))?.account_id ?? null;
}

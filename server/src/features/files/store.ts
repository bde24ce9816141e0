/** The SQL of files and their blobs. */
import type { Deps } from "../../deps.ts";
import { prepared, type Queries } from "../../ports/database.ts";
import type { FileRow } from "../../ports/tables.ts";

/**
 * How long a blob outlives its row: a download that has read the row may not have opened the blob yet.
 * Milliseconds.
 */
export const BLOB_GRACE_MS = 60_000;

const insert = prepared((build, row: { [Column in keyof FileRow]: FileRow[Column] }) =>
  build.insertInto("files").values({
    id: row.id,
    account_id: row.account_id,
    vault_id: row.vault_id,
    folder_id: row.folder_id,
    version_id: row.version_id,
    blob_key: row.blob_key,
    name: row.name,
    size: row.size,
    content_type: row.content_type,
    sha256: row.sha256,
    encrypted: row.encrypted,
    shared_json: row.shared_json,
    created_at: row.created_at,
    updated_at: row.updated_at,
    trashed_at: row.trashed_at,
    trashed_with: row.trashed_with,
    revision: row.revision,
    version_number: row.version_number,
    version_at: row.version_at,
    version_how: row.version_how,
    version_author: row.version_author,
  }),
);

/** Rejects with ConstraintError when the name was taken meanwhile. */
export async function insertFile(transaction: Queries, row: FileRow): Promise<void> {
  await transaction.run(insert(transaction, { ...row }));
}

/** A blob that no row needs. Until it is deleted its bytes count for the account (docs/decisions/0027-bytes-in-flight.md). */
export type GivenUp = Pick<FileRow, "blob_key" | "account_id" | "size">;

/** Hands a blob to the job that deletes what no row needs. */
export function queueBlobDeletion(transaction: Queries, row: GivenUp, notBefore: number): Promise<void> {
  return queueBlobDeletions(transaction, [row], notBefore);
}

/** The same for some hundreds at once. What is queued already stays as it is: a finished upload and its file name one blob. */
export async function queueBlobDeletions(
  transaction: Queries,
  rows: readonly GivenUp[],
  notBefore: number,
): Promise<void> {
  if (rows.length === 0) return;
  await transaction.run(
    transaction.build
      .insertInto("blob_deletions")
      .values(
        rows.map(({ blob_key, account_id, size }) => ({ blob_key, account_id, bytes: size, not_before: notBefore })),
      )
      .onConflict((conflict) => conflict.column("blob_key").doNothing()),
  );
}

const DAY = 24 * 60 * 60_000;

const keptDays = prepared((build, value: { vaultId: string }) =>
  build.selectFrom("vaults").select("keep_versions_days").where("id", "=", value.vaultId),
);

/** How long a version stays that is replaced now. Milliseconds since the Unix epoch. */
export async function readKeptUntil(
  queries: Queries,
  { settings }: Pick<Deps, "settings">,
  vaultId: string,
  now: number,
): Promise<number> {
  return now + keptFor(settings, (await queries.first(keptDays(queries, { vaultId })))?.keep_versions_days ?? null);
}

/** `days`: what the vault says; null: nothing. Milliseconds. */
export function keptFor({ timing }: Deps["settings"], days: number | null): number {
  return days === null ? timing.keepVersions : days * DAY;
}

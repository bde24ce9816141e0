/** The SQL of files and their blobs. */
import { prepared, type Queries } from "../../ports/database.ts";
import type { DeletionReason } from "../../ports/quarantine-tables.ts";
import type { FileRow } from "../../ports/tables.ts";
import { claimContent } from "../quarantine/store.ts";
import { newEntry, putWaiting } from "../search-index/store.ts";
import { refuseInTree } from "../tree-acts/acts.ts";

/**
 * How long a blob outlives its row: a download that has read the row may not have opened the blob yet.
 * Milliseconds.
 */
export const BLOB_GRACE_MS = 60_000;

type NewFileRow = { [Column in keyof FileRow]: FileRow[Column] } & Record<"search_id" | "search_waits", number | null>;

const insert = prepared((build, row: NewFileRow) =>
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
    created_by: row.created_by,
    updated_by: row.updated_by,
    entry_number: row.entry_number,
    entry_at: row.entry_at,
    entry_how: row.entry_how,
    entry_author: row.entry_author,
    search_id: row.search_id,
    budget_id: row.budget_id,
    search_waits: row.search_waits,
  } as FileRow),
);

/**
 * With its entry in the index of names. Rejects with ConstraintError when the name was taken meanwhile, as {@link claimContent} does, and
 * throws `tree_busy`.
 */
export async function insertFile(transaction: Queries, row: FileRow): Promise<void> {
  await claimContent(transaction, row.blob_key);
  await refuseInTree(transaction, row.vault_id, row.folder_id);
  const entry = await newEntry(transaction, row);
  const columns = { search_id: entry?.searchId ?? null, search_waits: entry === null ? null : 1 };
  await transaction.run(insert(transaction, { ...row, ...columns }));
  if (entry?.isTurn === true) await putWaiting(transaction, row.account_id);
}

/** A blob that no row needs. Until it is deleted its bytes count for the account (docs/decisions/0027-bytes-in-flight.md). */
export type GivenUp = Pick<FileRow, "blob_key" | "account_id" | "size">;

/** From when on a blob may go, and why. */
export interface Giving {
  readonly notBefore: number;
  readonly reason: DeletionReason;
}

/** Hands a blob to the job that deletes what no row needs. */
export function queueBlobDeletion(transaction: Queries, row: GivenUp, giving: Giving): Promise<void> {
  return queueBlobDeletions(transaction, [row], giving);
}

/** The same for some hundreds at once. What is queued already stays as it is: a finished upload and its file name one blob. */
export async function queueBlobDeletions(
  transaction: Queries,
  rows: readonly GivenUp[],
  { notBefore, reason }: Giving,
): Promise<void> {
  if (rows.length === 0) return;
  await transaction.run(
    transaction.build
      .insertInto("blob_deletions")
      .values(
        rows.map(({ blob_key, account_id, size }) => ({
          blob_key,
          account_id,
          bytes: size,
          not_before: notBefore,
          reason,
        })),
      )
      .onConflict((conflict) => conflict.column("blob_key").doNothing()),
  );
}

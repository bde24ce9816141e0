/** The SQL of files. Every look-up from outside is by id and account, or by id and recorded membership (shared vaults). */
import { sql } from "kysely";
import { prepared, type Queries } from "../../ports/database.ts";
import type { FileRow } from "../../ports/tables.ts";
import type { Position } from "../paging.ts";

/**
 * How long a blob outlives its row: a download that has read the row may not have opened the blob yet.
 * Milliseconds.
 */
export const BLOB_GRACE_MS = 60_000;

/** Where a file or folder lies: `parent_id` null at the top of the vault. */
export interface Place {
  readonly vaultId: string;
  readonly folderId: string | null;
}

/** The expression of the unique index `files_live_name`. */
const folderOrNone = sql<string>`coalesce(folder_id, '')`;

const liveByName = prepared((build, value: { vaultId: string; folderId: string; name: string }) =>
  build
    .selectFrom("files")
    .select("id")
    .where("vault_id", "=", value.vaultId)
    .where(folderOrNone, "=", value.folderId)
    .where("name", "=", value.name)
    .where("trashed_at", "is", null),
);

/** The id of the live file of that name in the place, null when the name is free. */
export async function findFileIdByName(
  queries: Queries,
  { vaultId, folderId }: Place,
  name: string,
): Promise<string | null> {
  return (await queries.first(liveByName(queries, { vaultId, folderId: folderId ?? "", name })))?.id ?? null;
}

export interface FileFilter {
  readonly accountId: string;
  /** null: wherever in the account. */
  readonly vaultId: string | null;
  /** null: the top of the vault; undefined: anywhere. */
  readonly folderId: string | null | undefined;
  readonly name: string | undefined;
  /** `name` is a name index: only shared vaults have it. */
  readonly byIndex?: boolean;
  readonly trashed: boolean;
}

/** At most `count` rows, newest first. The conditions follow the indexes `files_{account,vault,folder}_{live,trashed}`. */
export function listFiles(
  queries: Queries,
  filter: FileFilter,
  after: Position | null,
  count: number,
): Promise<FileRow[]> {
  let query = queries.build.selectFrom("files").selectAll().where("account_id", "=", filter.accountId);
  if (filter.vaultId !== null) query = query.where("vault_id", "=", filter.vaultId);
  // A name in a place is one look-up in the unique index, in the words of that index.
  if (filter.name !== undefined && filter.folderId !== undefined) {
    query = query.where(folderOrNone, "=", filter.folderId ?? "");
  } else if (filter.folderId === null) query = query.where("folder_id", "is", null);
  else if (filter.folderId !== undefined) query = query.where("folder_id", "=", filter.folderId);
  if (filter.name !== undefined) query = query.where("name", "=", filter.name);
  if (filter.byIndex === true) query = query.where("shared_json", "is not", null);
  query = query.where("trashed_at", filter.trashed ? "is not" : "is", null);
  if (after !== null) {
    query = query.where((eb) => eb(eb.refTuple("created_at", "id"), "<", eb.tuple(after.createdAt, after.id)));
  }
  return queries.all(query.orderBy("created_at", "desc").orderBy("id", "desc").limit(count));
}

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
  }),
);

/** Rejects with ConstraintError when the name was taken meanwhile. */
export async function insertFile(transaction: Queries, row: FileRow): Promise<void> {
  await transaction.run(insert(transaction, { ...row }));
}

/** Writes what may change of a file: its content, name, place and trash state. Rejects with ConstraintError on a taken name. */
export async function updateFile(transaction: Queries, row: FileRow): Promise<void> {
  const { id, account_id: _account, created_at: _created, ...changing } = row;
  await transaction.run(transaction.build.updateTable("files").set(changing).where("id", "=", id));
}

export async function deleteFileRow(transaction: Queries, id: string): Promise<void> {
  await transaction.run(transaction.build.deleteFrom("files").where("id", "=", id));
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

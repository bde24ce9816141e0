/** Versions of shared vaults' files that were replaced: readable by their id for an hour, so that a reader and a rotation can finish. */
import { prepared, type Queries } from "../../ports/database.ts";
import type { FileRow, FileVersionRow } from "../../ports/tables.ts";
import { BLOB_GRACE_MS, queueBlobDeletion } from "./store.ts";

/** Milliseconds. */
export const KEPT_MS = 60 * 60_000;

const byId = prepared((build, value: { fileId: string; versionId: string; now: number }) =>
  build
    .selectFrom("file_versions")
    .selectAll()
    .where("file_id", "=", value.fileId)
    .where("version_id", "=", value.versionId)
    .where("expires_at", ">", value.now),
);

/** null: there is none, or its hour is over. */
export function findKeptVersion(
  queries: Queries,
  value: { fileId: string; versionId: string; now: number },
): Promise<FileVersionRow | null> {
  return queries.first(byId(queries, value));
}

const isKept = prepared((build, value: { fileId: string; versionId: string }) =>
  build
    .selectFrom("file_versions")
    .select("version_id")
    .where("file_id", "=", value.fileId)
    .where("version_id", "=", value.versionId),
);

/** Whether the id is one of a version that the file had and that is still kept. */
export async function isKeptVersion(queries: Queries, value: { fileId: string; versionId: string }): Promise<boolean> {
  return (await queries.first(isKept(queries, value))) !== null;
}

/**
 * How many of a file are kept at most. They are on the disk without counting as usage, so a file that is written again
 * and again could keep any amount there. A rotation makes one of each file.
 */
export const KEPT_VERSIONS = 8;

const oldest = prepared((build, value: { fileId: string; kept: number }) =>
  build
    .selectFrom("file_versions")
    .select(["version_id", "blob_key", "size"])
    .where("file_id", "=", value.fileId)
    .orderBy("expires_at", "desc")
    .orderBy("version_id")
    .offset(value.kept)
    .limit(KEPT_VERSIONS),
);

/** Keeps what the row says of its content, before another takes its place. Beyond {@link KEPT_VERSIONS} the oldest goes. */
export async function keepVersion(transaction: Queries, row: FileRow, now: number): Promise<void> {
  if (row.shared_json === null) throw new Error("only shared vaults keep versions");
  for (const { version_id, ...content } of await transaction.all(
    oldest(transaction, { fileId: row.id, kept: KEPT_VERSIONS - 1 }),
  )) {
    await transaction.run(removeOne(transaction, { fileId: row.id, versionId: version_id }));
    await queueBlobDeletion(transaction, { ...content, account_id: row.account_id }, now + BLOB_GRACE_MS);
  }
  await transaction.run(
    transaction.build.insertInto("file_versions").values({
      ...{ vault_id: row.vault_id, file_id: row.id, version_id: row.version_id, blob_key: row.blob_key },
      ...{ size: row.size, sha256: row.sha256, shared_json: row.shared_json, expires_at: now + KEPT_MS },
    }),
  );
}

const removeOne = prepared((build, value: { fileId: string; versionId: string }) =>
  build.deleteFrom("file_versions").where("file_id", "=", value.fileId).where("version_id", "=", value.versionId),
);

const queueOf = prepared((build, value: { fileId: string; notBefore: number }) =>
  build
    .insertInto("blob_deletions")
    .columns(["blob_key", "not_before", "account_id", "bytes"])
    .expression((expression) =>
      expression
        .selectFrom("file_versions")
        .innerJoin("vaults", "vaults.id", "file_versions.vault_id")
        .select((row) => ["blob_key", row.val(value.notBefore).as("not_before"), "account_id", "size"])
        .where("file_id", "=", value.fileId),
    )
    .onConflict((conflict) => conflict.column("blob_key").doNothing()),
);

const removeOf = prepared((build, value: { fileId: string }) =>
  build.deleteFrom("file_versions").where("file_id", "=", value.fileId),
);

/** For a file that is deleted for good: its versions go with it. */
export async function dropKeptVersions(
  transaction: Queries,
  value: { fileId: string; notBefore: number },
): Promise<void> {
  await transaction.run(queueOf(transaction, value));
  await transaction.run(removeOf(transaction, { fileId: value.fileId }));
}

/** The SQL of resumable uploads. Every look-up is by id and account, or by id and recorded membership. */
import { prepared, type Queries } from "../../../../ports/database.ts";
import type { UploadRow } from "../../../../ports/tables.ts";

const byId = prepared((build, value: { id: string; accountId: string }) =>
  build.selectFrom("uploads").selectAll().where("id", "=", value.id).where("account_id", "=", value.accountId),
);

export function findUpload(queries: Queries, value: { id: string; accountId: string }): Promise<UploadRow | null> {
  return queries.first(byId(queries, value));
}

const ofMember = prepared((build, value: { id: string; chainAddress: string }) =>
  build
    .selectFrom("uploads")
    .innerJoin("vault_members", "vault_members.vault_id", "uploads.vault_id")
    .selectAll("uploads")
    .where("uploads.id", "=", value.id)
    .where("vault_members.chain_address", "=", value.chainAddress)
    .where("vault_members.removed_at", "is", null),
);

/** An upload, of whatever account, to a shared vault that records the address as a member. */
export function findUploadOfMember(
  queries: Queries,
  value: { id: string; chainAddress: string },
): Promise<UploadRow | null> {
  return queries.first(ofMember(queries, value));
}

type PlaceByExpiry = Pick<UploadRow, "expires_at" | "id">;

const unfinishedAfter = prepared(
  (build, value: { accountId: string; vaultId: string; expiresAt: number; id: string; limit: number }) =>
    build
      .selectFrom("uploads")
      .selectAll()
      .where("account_id", "=", value.accountId)
      .where("vault_id", "=", value.vaultId)
      .where("finished_file_id", "is", null)
      .where((row) => row(row.refTuple("expires_at", "id"), ">", row.tuple(value.expiresAt, value.id)))
      .orderBy("expires_at")
      .orderBy("id")
      .limit(value.limit),
);

/** Some of the vault's uploads that have made no file, from the first that expires; `after` null: from the beginning. */
export function listUnfinished(
  queries: Queries,
  vault: { readonly accountId: string; readonly vaultId: string },
  { after, limit }: { readonly after: PlaceByExpiry | null; readonly limit: number },
): Promise<UploadRow[]> {
  const { expires_at: expiresAt, id } = after ?? { expires_at: 0, id: "" };
  return queries.all(unfinishedAfter(queries, { ...vault, expiresAt, id, limit }));
}

export async function insertUpload(transaction: Queries, row: UploadRow): Promise<void> {
  await transaction.run(transaction.build.insertInto("uploads").values(row));
}

/**
 * Moves it, notes that its held bytes are all there, or marks it finished with its file, so that a repeated last part gets the same answer.
 * 0 when it is finished, gone, or has moved.
 */
export function changeUnfinished(
  transaction: Queries,
  { id, blobKey }: { id: string; blobKey: string },
  change: Partial<Pick<UploadRow, "blob_key" | "finished_file_id" | "held_sha256">>,
): Promise<number> {
  return transaction.run(
    transaction.build
      .updateTable("uploads")
      .set(change)
      .where("id", "=", id)
      .where("blob_key", "=", blobKey)
      .where("finished_file_id", "is", null),
  );
}

/** As it was, or null when it is gone already. */
export function removeUploadRow(
  transaction: Queries,
  id: string,
): Promise<Pick<UploadRow, "blob_key" | "finished_file_id"> | null> {
  return transaction.first(
    transaction.build.deleteFrom("uploads").where("id", "=", id).returning(["blob_key", "finished_file_id"]),
  );
}

/** The SQL of vaults that change their account. */
import { prepared, type Queries } from "../../ports/database.ts";
import { queueBlobDeletions } from "../files/store.ts";
import { inPieces, PIECE, untilNoneIsLeft } from "../in-pieces.ts";
import { moveEntries } from "../search-index/store.ts";
import type { OwnedVault } from "../reach/store.ts";

const byId = prepared((build, value: { id: string }) =>
  build
    .selectFrom("vaults")
    .innerJoin("accounts", "accounts.id", "vaults.account_id")
    .selectAll("vaults")
    .select("accounts.default_vault_id")
    .where("vaults.id", "=", value.id)
    .where("vaults.purging_bytes", "is", null),
);

/** A vault of any account: nobody may see it before the chain has named the owner. */
export function findVaultOfAny(queries: Queries, id: string): Promise<OwnedVault | null> {
  return queries.first(byId(queries, { id }));
}

/** The vault's row and all that lies in it; the labels of its members were the owner's notes, and end. Rejects with ConstraintError when the account has a vault of that name. */
export async function moveVault(
  transaction: Queries,
  { id, accountId, name, now }: { id: string; accountId: string; name: string; now: number },
): Promise<void> {
  const { build } = transaction;
  const row = { account_id: accountId, name, updated_at: now };
  await transaction.run(build.updateTable("vaults").set(row).where("id", "=", id));
  for (const table of ["files", "folders"] as const) {
    const rows = await transaction.all(build.selectFrom(table).select("id").where("vault_id", "=", id));
    const ids = rows.map((found) => found.id);
    await inPieces(ids, (piece) =>
      transaction.run(build.updateTable(table).set({ account_id: accountId }).where("id", "in", piece)),
    );
  }
  await transaction.run(build.updateTable("ended_items").set({ account_id: accountId }).where("vault_id", "=", id));
  await moveEntries(transaction, id);
  await transaction.run(build.updateTable("vault_members").set({ label: "" }).where("vault_id", "=", id));
}

/** Ends the vault's resumable uploads; the bytes of unfinished ones go to the deletion queue. */
export async function endUploads(
  transaction: Queries,
  { vaultId, notBefore }: { vaultId: string; notBefore: number },
): Promise<void> {
  const { build } = transaction;
  const some = build.selectFrom("uploads").select("id").where("vault_id", "=", vaultId).limit(PIECE);
  const end = build
    .deleteFrom("uploads")
    .where("id", "in", some)
    .returning(["blob_key", "account_id", "length as size", "finished_file_id"]);
  await untilNoneIsLeft(async () => {
    const ended = await transaction.all(end);
    const unfinished = ended.filter((upload) => upload.finished_file_id === null);
    await queueBlobDeletions(transaction, unfinished, { notBefore, reason: "upload" });
    return ended.length;
  });
}

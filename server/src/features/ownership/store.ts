/** The SQL of vaults that change their account. */
import { prepared, type Session } from "../../ports/database.ts";
import type { OwnedVault } from "../vaults/store.ts";

const byId = prepared((build, value: { id: string }) =>
  build
    .selectFrom("vaults")
    .innerJoin("accounts", "accounts.id", "vaults.account_id")
    .selectAll("vaults")
    .select("accounts.default_vault_id")
    .where("vaults.id", "=", value.id),
);

/** Of whatever account: for nobody to see before the chain has said that it is the owner. */
export function findVaultOfAny(session: Session, id: string): Promise<OwnedVault | null> {
  return session.first(byId(session, { id }));
}

/** The vault's row and all that lies in it; the labels of its members were the owner's notes, and end. Rejects with ConstraintError when the account has a vault of that name. */
export async function moveVault(
  transaction: Session,
  { id, accountId, name, now }: { id: string; accountId: string; name: string; now: number },
): Promise<void> {
  const { build } = transaction;
  const row = { account_id: accountId, name, updated_at: now };
  await transaction.run(build.updateTable("vaults").set(row).where("id", "=", id));
  for (const table of ["files", "folders"] as const)
    await transaction.run(build.updateTable(table).set({ account_id: accountId }).where("vault_id", "=", id));
  await transaction.run(build.updateTable("vault_members").set({ label: "" }).where("vault_id", "=", id));
}

/** Ends the vault's resumable uploads; the bytes of unfinished ones go to the deletion queue. */
export async function endUploads(
  transaction: Session,
  { vaultId, notBefore }: { vaultId: string; notBefore: number },
): Promise<void> {
  const { build } = transaction;
  const unfinished = build
    .selectFrom("uploads")
    .select((eb) => ["blob_key", eb.val(notBefore).as("not_before")])
    .where("vault_id", "=", vaultId)
    .where("finished_file_id", "is", null);
  await transaction.run(
    build
      .insertInto("blob_deletions")
      .columns(["blob_key", "not_before"])
      .expression(unfinished)
      .onConflict((conflict) => conflict.column("blob_key").doNothing()),
  );
  await transaction.run(build.deleteFrom("uploads").where("vault_id", "=", vaultId));
}

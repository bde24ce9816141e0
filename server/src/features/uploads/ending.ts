/** Uploads that end before they are done. */
import type { Deps } from "../../deps.ts";
import type { Session } from "../../ports/database.ts";
import type { UploadRow } from "../../ports/tables.ts";
import { BLOB_GRACE_MS, queueBlobDeletion } from "../files/store.ts";
import { readSigned } from "./signed-resumable.ts";
import { deleteUploadRow, findUpload, listUnfinished } from "./store.ts";

/** The bytes of a finished upload are its file's and stay. */
export async function endUpload(
  transaction: Session,
  { clock }: Pick<Deps, "clock">,
  { id, account_id: accountId, blob_key: blobKey }: UploadRow,
): Promise<void> {
  const current = await findUpload(transaction, { id, accountId });
  await deleteUploadRow(transaction, id);
  if (current === null || current.finished_file_id !== null) return;
  await queueBlobDeletion(transaction, { blobKey, notBefore: clock.now() + BLOB_GRACE_MS });
}

/**
 * Ends what a removed member has begun in a vault: nobody can finish it, and it would go on holding storage of the vault's account
 * (docs/decisions/0008-uploads-hold-storage.md).
 */
export async function endUploadsOfMember(
  transaction: Session,
  deps: Pick<Deps, "clock">,
  { vaultId, chainAddress }: { readonly vaultId: string; readonly chainAddress: string },
): Promise<void> {
  for (const upload of await listUnfinished(transaction, vaultId))
    if (readSigned(upload)?.version.signer === chainAddress) await endUpload(transaction, deps, upload);
}

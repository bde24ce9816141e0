/** Uploads that end before they are done. */
import type { Deps } from "../../../../deps.ts";
import type { Queries } from "../../../../ports/database.ts";
import type { Lease } from "../../../../ports/leases.ts";
import type { UploadRow } from "../../../../ports/tables.ts";
import { BLOB_GRACE_MS, queueBlobDeletion } from "../../store.ts";
import { requireLease } from "./lease.ts";
import { isWhole, readSigned } from "./rules.ts";
import { listUnfinished, removeUploadRow } from "./store.ts";

/** The bytes of a finished upload are its file's and stay. `size`: what of it lies on the disk until the queue deletes it, at most. */
async function endUpload(
  transaction: Queries,
  { clock }: Pick<Deps, "clock">,
  upload: UploadRow,
  size: number,
): Promise<void> {
  const current = await removeUploadRow(transaction, upload.id);
  if (current === null || current.finished_file_id !== null) return;
  await queueBlobDeletion(
    transaction,
    { ...upload, blob_key: current.blob_key, size },
    { notBefore: clock.now() + BLOB_GRACE_MS, reason: "upload" },
  );
}

/**
 * The same, in its own transaction, by the holder of the upload's lease. Its bytes count no more, and no download
 * reads a partial: they go at once. With the queue, uploads begun and given up in turn could keep any amount on the
 * disk. Held bytes that are all there are no partial any more, and count until the queue deletes them.
 */
export async function giveUp(
  { database, blobs, clock }: Pick<Deps, "database" | "blobs" | "clock">,
  upload: UploadRow,
  lease: Lease,
): Promise<void> {
  const end = async (transaction: Queries): Promise<void> => {
    await requireLease(transaction, lease);
    await endUpload(transaction, { clock }, upload, isWhole(upload) ? upload.length : 0);
  };
  await database.transaction(end, { freesSpace: true });
  // The queue has the key: what cannot be removed now is removed then.
  await blobs.discard(upload.blob_key).catch(() => undefined);
}

/** How many one transaction looks at: other writers wait for it, and a member may have begun any number. */
const BATCH = 200;

/**
 * Ends a removed member's uploads in a vault, in batches. Nobody can finish them, and they would still hold storage of
 * the vault's account (docs/decisions/0027-bytes-in-flight.md). Called once the member's record has ended, so that
 * nothing new begins meanwhile. If the process ends on the way, the rest expires.
 */
export async function endUploadsOfMember(
  deps: Pick<Deps, "database" | "clock">,
  { chainAddress, ...vault }: { readonly accountId: string; readonly vaultId: string; readonly chainAddress: string },
): Promise<void> {
  const { database } = deps;
  for (let after: UploadRow | null = null; ;) {
    const page = await listUnfinished(database, vault, { after, limit: BATCH });
    const signed = page.filter((upload) => readSigned(upload)?.version.signer === chainAddress);
    const endAll = async (transaction: Queries): Promise<void> => {
      for (const upload of signed) await endUpload(transaction, deps, upload, upload.length);
    };
    if (signed.length > 0) await database.transaction(endAll, { freesSpace: true });
    after = page.at(-1) ?? null;
    if (page.length < BATCH) return;
  }
}

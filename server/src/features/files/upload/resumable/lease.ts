/** One writer per upload, in whichever process (docs/decisions/0031-leases.md); tus answers the others 423. */
import type { Queries } from "../../../../ports/database.ts";
import type { Lease, Leases } from "../../../../ports/leases.ts";
import type { UploadRow } from "../../../../ports/tables.ts";
import { ServiceError } from "../../../../service-error.ts";
import { BLOB_GRACE_MS, queueBlobDeletion } from "../../store.ts";
import type { UploadDeps } from "../verifier.ts";
import { changeUnfinished } from "./store.ts";

export type WritingDeps = UploadDeps & { readonly leases: Leases };

/** An upload, and what makes its caller the one who writes to it. */
export interface HeldUpload {
  readonly upload: UploadRow;
  readonly lease: Lease;
}

/** The fence of what is committed under an upload's lease: a writer that was replaced commits nothing. Throws `upload_locked`. */
export async function requireLease(transaction: Queries, lease: Lease): Promise<void> {
  if (!(await lease.isHeldIn(transaction))) throw new ServiceError("upload_locked");
}

/**
 * `find` answers the upload's state once nobody else writes to it. The answer of `work` is passed on only if the lease
 * lasted until then: the one writer acknowledges bytes. Throws `upload_locked`.
 */
export async function withUpload<Result>(
  deps: WritingDeps,
  { id, find }: { readonly id: string; readonly find: () => Promise<UploadRow> },
  work: (upload: UploadRow, lease: Lease) => Promise<Result>,
): Promise<Result> {
  const lease = await deps.leases.acquire(`upload:${id}`);
  if (lease === null) throw new ServiceError("upload_locked");
  let isOwn = false;
  try {
    const found = await find();
    const upload = lease.takenOver ? await moveBytes(deps, lease, found) : found;
    isOwn = true;
    const result = await work(upload, lease);
    if (!(await endLease(lease))) throw new ServiceError("upload_locked");
    return result;
  } catch (error) {
    // Until its bytes are moved, the next holder has to move them as well.
    if (isOwn) await endLease(lease);
    else lease.abandon();
    throw error;
  }
}

/**
 * Whether it lasted until now. What was done under it is done, also when the database cannot be told at this moment: the lease holds as long
 * as it was confirmed for, and then runs out by itself.
 */
async function endLease(lease: Lease): Promise<boolean> {
  try {
    return await lease.release();
  } catch {
    lease.abandon();
    return !lease.signal.aborted;
  }
}

/**
 * The writer before did not end: it may be paused, with the file open, and go on later. The store sees to it that it
 * writes to bytes that nobody reads. Where that takes a new key for the durable bytes, only the row leads to it.
 */
async function moveBytes(deps: WritingDeps, lease: Lease, upload: UploadRow): Promise<UploadRow> {
  const { database, blobs, clock, random } = deps;
  const { id, blob_key: from } = upload;
  // Whole bytes change no more: all who finish the upload make the same file of them.
  if (upload.finished_file_id !== null || (await blobs.partialLength(from)) === null) return upload;
  const to = random.uuid();
  try {
    if ((await blobs.takeOver(from, to)) === from) return upload;
    const size = (await blobs.partialLength(from)) ?? 0;
    await database.transaction(async (transaction) => {
      const isMoved =
        (await lease.renew(transaction)) &&
        (await changeUnfinished(transaction, { id, blobKey: from }, { blob_key: to })) === 1;
      if (!isMoved) throw new ServiceError("upload_locked");
      await queueBlobDeletion(
        transaction,
        { ...upload, size },
        { notBefore: clock.now() + BLOB_GRACE_MS, reason: "upload" },
      );
    });
    return { ...upload, blob_key: to };
  } catch (error) {
    // The sweep removes what cannot be removed now: no row names it.
    await blobs.discard(to).catch(() => undefined);
    throw error;
  }
}

/**
 * The end of a resumable upload whose bytes are all there: its file, or its file's next version. Held bytes wait for the commit that makes
 * the version of them. The caller holds the upload's lease.
 */
import type { Principal, RequestContext } from "../../../../handler.ts";
import type { UploadRow } from "../../../../ports/tables.ts";
import { ServiceError } from "../../../../service-error.ts";
import { notFound } from "../../../acting.ts";
import { deleteHoldsOfUpload } from "../../../budgets/store.ts";
import type { Changing } from "../../../items/changing.ts";
import { applyChanges, commit, type PreparedChange } from "../commit.ts";
import { requireStoredVersion } from "../encrypted-start.ts";
import { readRoom, type StoredContent } from "../receive.ts";
import type { ContentChange, UploadDeps } from "../verifier.ts";
import { verify, type VerifiedChange } from "../verify.ts";
import { type HeldUpload, requireLease } from "./lease.ts";
import { isNameHidden, readSigned } from "./rules.ts";
import { changeUnfinished, findUpload } from "./store.ts";

/** Makes the file or the new version; the id of what was made. A second call answers the same id. null: the bytes are held. */
export async function finish(
  deps: UploadDeps,
  context: RequestContext<Principal>,
  held: HeldUpload,
): Promise<string | null> {
  const { upload } = held;
  const { principal } = context;
  if (upload.held === 1) {
    await holdBytes(deps, context, held);
    return null;
  }
  const change = changeOf(upload);
  const verified = await verifyFinish(deps, principal, upload, change);
  if (verified.finishedId !== null) return verified.finishedId;
  const content = await completeBytes(deps, upload);
  await context.recheck();
  const { account_id: accountId } = upload;
  return commit(deps, principal, { accountId, write: verified.change.verifier.write }, (changing) =>
    finishWithin(changing, held, { change, content }),
  );
}

async function completeBytes(deps: UploadDeps, upload: UploadRow): Promise<StoredContent> {
  const isComplete = (await deps.blobs.partialLength(upload.blob_key)) === null;
  if (isComplete) await requireSignedBytes(deps, upload);
  const receipt = await deps.blobs.complete(upload.blob_key);
  if (receipt.size !== upload.length)
    throw new Error(`upload ${upload.id} has ${receipt.size} bytes and not ${upload.length}`);
  if (!isComplete) await requireSignedBytes(deps, upload);
  return { blobKey: upload.blob_key, ...receipt };
}

/**
 * Notes that the bytes are all there, with their digest. They go on counting as those of an unfinished upload, until a commit, the sender or
 * time ends them. Of a process that is killed before the row, the blob is left under the row's key: the next HEAD or part comes here again.
 */
async function holdBytes(
  deps: UploadDeps,
  context: RequestContext<Principal>,
  { upload, lease }: HeldUpload,
): Promise<void> {
  const { blobKey, sha256 } = await completeBytes(deps, upload);
  await context.recheck();
  await deps.database.transaction(async (transaction) => {
    await requireLease(transaction, lease);
    const noted = await changeUnfinished(transaction, { id: upload.id, blobKey }, { held_sha256: sha256 });
    if (noted === 0) throw new ServiceError("upload_locked");
  });
}

async function finishWithin(
  changing: Changing,
  { upload, lease }: HeldUpload,
  prepared: PreparedChange,
): Promise<string> {
  const { act } = changing;
  const { id, account_id: accountId, blob_key: blobKey } = upload;
  const current = await findUpload(act, { id, accountId });
  if (current === null) throw notFound("Upload");
  if (current.finished_file_id !== null) return current.finished_file_id;
  await requireLease(act, lease);
  await deleteHoldsOfUpload(act, id);
  const [made] = await applyChanges(changing, [prepared]);
  if (made === undefined) throw new Error("an upload was finished without a file");
  // Another process has taken over, and its bytes count.
  const finished = await changeUnfinished(act, { id, blobKey }, { finished_file_id: made.id });
  if (finished === 0) throw new ServiceError("upload_locked");
  return made.id;
}

/**
 * Refuses what the transaction would refuse, before it completes the blob. Completing it again, at every HEAD after
 * that, would read all its bytes for their digest. `finishedId`: another process has made the file meanwhile.
 */
async function verifyFinish(
  deps: UploadDeps,
  principal: Principal,
  upload: UploadRow,
  change: ContentChange,
): Promise<{ readonly finishedId: null; readonly change: VerifiedChange } | { readonly finishedId: string }> {
  const { id, account_id: accountId, length } = upload;
  try {
    const verified = await verify(deps, principal, change);
    // What this very upload has made already holds its bytes.
    const freed = verified.made === null ? verified.freed : length;
    const { storageBytes } = await readRoom(deps.database, deps, { accountId, freed });
    if (length > freed && length > storageBytes) throw new ServiceError("storage_quota");
    return { finishedId: null, change: verified };
  } catch (error) {
    // Read last: a name that the upload's own file has taken was committed with this.
    const finishedId = (await findUpload(deps.database, { id, accountId }))?.finished_file_id ?? null;
    if (finishedId === null) throw error;
    return { finishedId };
  }
}

function changeOf(upload: UploadRow): ContentChange {
  const sent = { contentType: upload.content_type, signed: readSigned(upload) };
  if (upload.file_id !== null)
    return {
      kind: "version",
      fileId: upload.file_id,
      ifMatch: upload.if_match ?? undefined,
      keep: upload.keep === 1,
      ...sent,
    };
  return {
    kind: "file",
    vaultId: upload.vault_id,
    folderId: upload.folder_id,
    name: isNameHidden(upload) ? undefined : upload.name,
    ifNoneMatch: upload.if_none_match === 1,
    ...sent,
  };
}

/** Throws `statement_invalid` unless the stored bytes begin as signed; nothing is asked in a public vault. */
async function requireSignedBytes({ blobs }: UploadDeps, upload: UploadRow): Promise<void> {
  const signed = readSigned(upload);
  if (signed === null) return;
  await requireStoredVersion(blobs, upload.blob_key, { size: upload.length, signed: signed.version });
}

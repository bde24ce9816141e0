/** Adding bytes to an upload, and making its file once all are there. The caller holds the upload's lease. */
import type { IncomingBytes, Principal, RequestContext } from "../../../../handler.ts";
import type { BlobStore } from "../../../../ports/blob-store.ts";
import type { Lease } from "../../../../ports/leases.ts";
import type { UploadRow } from "../../../../ports/tables.ts";
import { ServiceError } from "../../../../service-error.ts";
import { type AccountAct, actAs } from "../../../account/act.ts";
import { notFound } from "../../../acting.ts";
import { deleteHoldsOfUpload } from "../../../budgets/store.ts";
import { holdingToHeader } from "../encrypted-start.ts";
import {
  addFile,
  addVersion,
  readReplaceable,
  readRoom,
  requireMayKeepNothing,
  type StoredContent,
  type StoringDeps,
} from "../commit.ts";
import { type Permits, withPermits } from "../../../reach/permits.ts";
import { refuseTakenName } from "../../../items/names.ts";
import { findPlace } from "../../../items/placing.ts";
import { checking, type ExpectedChecksum } from "./checksum.ts";
import { requireWriter } from "./lease.ts";
import type { Progress } from "./rules.ts";
import { addSharedUpload, readSigned, refuseSharedEarly, requireContinuable, requireSignedBytes } from "./shared.ts";
import { changeUnfinished, findUpload } from "./store.ts";

export interface Part {
  readonly offset: number;
  /** null: no bytes, which finishes an upload that only lacks its file. */
  readonly body: IncomingBytes | null;
  readonly checksum: ExpectedChecksum | null;
}

/** An upload, and what makes its caller the one who writes to it. */
export interface HeldUpload {
  readonly upload: UploadRow;
  readonly lease: Lease;
}

/** Throws `offset_mismatch`, `checksum_mismatch` (nothing of the part is kept), and what making the file throws. */
export async function advance(
  deps: StoringDeps,
  context: RequestContext<Principal>,
  held: HeldUpload,
  part: Part,
): Promise<Progress> {
  const { upload } = held;
  if (upload.finished_file_id !== null) return repeatLast(deps.blobs, upload, upload.finished_file_id, part);
  const durable = await readOffset(deps.blobs, upload);
  if (part.offset !== durable) throw offsetMismatch(durable);
  const left = upload.length - durable;
  if (part.body !== null && (part.body.length ?? 0) > left) throw tooLong();
  if (part.body !== null && upload.shared_json !== null) await requireContinuable(deps, context, upload);
  const offset = left === 0 && part.checksum === null ? durable : await append(deps.blobs, upload, durable, part);
  return offset === upload.length ? { offset, fileId: await finish(deps, context, held) } : { offset, fileId: null };
}

/** Durable bytes. Bytes that are all there but without their file count whole. Throws `upload_expired` when they are gone. */
export async function readOffset(blobs: BlobStore, upload: UploadRow): Promise<number> {
  const partial = await blobs.partialLength(upload.blob_key);
  if (partial !== null) return partial;
  // A kill between completing the blob and writing the row leaves the blob without a partial.
  if ((await blobs.open(upload.blob_key, { offset: 0, length: 0 })) !== null) return upload.length;
  throw new ServiceError("upload_expired", "The bytes of the upload are gone");
}

/** Makes the file or the new version; the id of what was made. A second call answers the same id. */
export async function finish(
  deps: StoringDeps,
  context: RequestContext<Principal>,
  { upload, lease }: HeldUpload,
): Promise<string> {
  const made = await refuseEarly(deps, context.principal, upload);
  if (made !== null) return made;
  const isComplete = (await deps.blobs.partialLength(upload.blob_key)) === null;
  if (isComplete) await requireSignedBytes(deps, upload);
  const receipt = await deps.blobs.complete(upload.blob_key);
  if (receipt.size !== upload.length)
    throw new Error(`upload ${upload.id} has ${receipt.size} bytes and not ${upload.length}`);
  if (!isComplete) await requireSignedBytes(deps, upload);
  await context.recheck();
  const { principal } = context;
  const content = { blobKey: upload.blob_key, ...receipt };
  const { account_id: accountId } = upload;
  return withPermits(deps, principal, (permits) => {
    const work = (act: AccountAct) => makeFile(act, deps, principal, { upload, lease, content, permits });
    return actAs(deps, principal, work, { accountId });
  });
}

async function makeFile(
  act: AccountAct,
  deps: StoringDeps,
  principal: Principal,
  parts: HeldUpload & { readonly content: StoredContent; readonly permits: Permits },
): Promise<string> {
  const { id, account_id: accountId, blob_key: blobKey } = parts.upload;
  const current = await findUpload(act, { id, accountId });
  if (current === null) throw notFound("Upload");
  if (current.finished_file_id !== null) return current.finished_file_id;
  await requireWriter(act, parts.lease);
  await deleteHoldsOfUpload(act, id);
  const made = await addContent(act, deps, principal, parts);
  // Another process has taken over, and its bytes count.
  const finished = await changeUnfinished(act, { id, blobKey }, { finished_file_id: made.id });
  if (finished === 0) throw new ServiceError("upload_locked");
  return made.id;
}

function addContent(
  act: AccountAct,
  deps: StoringDeps,
  principal: Principal,
  parts: { readonly upload: UploadRow; readonly content: StoredContent; readonly permits: Permits },
): Promise<{ readonly id: string }> {
  const { upload, content } = parts;
  if (upload.shared_json !== null) return addSharedUpload(act, deps, principal, parts);
  return upload.file_id === null
    ? addFile(act, deps, principal, newFileOf(upload), content)
    : addVersion(act, deps, principal, newVersionOf(upload, upload.file_id), content);
}

/**
 * Refuses what the transaction would refuse, before it completes the blob. Completing it again, at every HEAD after
 * that, would read all its bytes for their digest. Answers the file's id when another process has made it meanwhile.
 */
async function refuseEarly(deps: StoringDeps, principal: Principal, upload: UploadRow): Promise<string | null> {
  try {
    const freed = await refuseByState(deps, principal, upload);
    const { storageBytes } = await readRoom(deps.database, deps, upload.account_id, freed);
    if (upload.length > freed && upload.length > storageBytes) throw new ServiceError("storage_quota");
    return null;
  } catch (error) {
    // Read last: a name that the upload's own file has taken was committed with this.
    const { id, account_id: accountId } = upload;
    const made = (await findUpload(deps.database, { id, accountId }))?.finished_file_id ?? null;
    if (made === null) throw error;
    return made;
  }
}

/** Resolves with the bytes that the finished upload gives back. */
async function refuseByState(deps: StoringDeps, principal: Principal, upload: UploadRow): Promise<number> {
  const { database } = deps;
  if (upload.shared_json !== null) return refuseSharedEarly(deps, principal, upload);
  if (upload.file_id !== null) {
    const version = newVersionOf(upload, upload.file_id);
    requireMayKeepNothing(principal, version);
    const { row } = await readReplaceable(database, principal, version);
    return version.keep ? 0 : row.size;
  }
  const file = newFileOf(upload);
  await refuseTakenName(database, "file", await findPlace(database, principal, file), file);
  return 0;
}

function newFileOf(upload: UploadRow) {
  const place = { vaultId: upload.vault_id, folderId: upload.folder_id };
  return { ...place, name: upload.name, contentType: upload.content_type, ifNoneMatch: upload.if_none_match === 1 };
}

function newVersionOf(upload: UploadRow, fileId: string) {
  const { content_type: contentType, if_match: ifMatch, keep } = upload;
  return { fileId, contentType, ifMatch: ifMatch ?? undefined, keep: keep === 1 };
}

async function append(blobs: BlobStore, upload: UploadRow, offset: number, { body, checksum }: Part): Promise<number> {
  const limited = within(body?.stream ?? nothing(), upload.length - offset);
  const signed = readSigned(upload);
  const held = signed === null ? limited : holdingToHeader(limited, signed.version, offset);
  const source = checksum === null ? held : checking(held, checksum);
  try {
    return await blobs.append(upload.blob_key, offset, source, { atomic: checksum !== null });
  } catch (error) {
    // Another process was faster: the partial is longer than it was a moment ago.
    if (error instanceof RangeError) throw new ServiceError("offset_mismatch", undefined, { cause: error });
    throw error;
  }
}

/**
 * The answer to the last part was lost and the part is sent again. The same bytes at the same place get the same
 * answer; anything else is a part at a wrong offset.
 */
async function repeatLast(
  blobs: BlobStore,
  upload: UploadRow,
  fileId: string,
  { offset, body }: Part,
): Promise<Progress> {
  const done = { offset: upload.length, fileId };
  if (offset > upload.length) throw offsetMismatch(upload.length);
  const stored = await blobs.open(upload.blob_key, { offset, length: upload.length - offset });
  const sent = body?.stream ?? nothing();
  if (offset < upload.length && (stored === null || !(await equal(sent, stored)))) throw offsetMismatch(upload.length);
  return done;
}

async function equal(sent: AsyncIterable<Uint8Array>, stored: AsyncIterable<Uint8Array>): Promise<boolean> {
  const reader = stored[Symbol.asyncIterator]();
  let rest: Uint8Array = new Uint8Array(0);
  const take = async (): Promise<boolean> => {
    const step = await reader.next();
    if (step.done !== true) rest = step.value;
    return step.done !== true;
  };
  try {
    for await (const chunk of sent) {
      for (let at = 0; at < chunk.length;) {
        if (rest.length === 0 && !(await take())) return false;
        const count = Math.min(rest.length, chunk.length - at);
        if (Buffer.compare(rest.subarray(0, count), chunk.subarray(at, at + count)) !== 0) return false;
        rest = rest.subarray(count);
        at += count;
      }
    }
    return rest.length === 0 && !(await take());
  } finally {
    await reader.return?.();
  }
}

async function* within(source: AsyncIterable<Uint8Array>, most: number): AsyncGenerator<Uint8Array> {
  let left = most;
  for await (const chunk of source) {
    if (chunk.length > left) throw tooLong();
    left -= chunk.length;
    yield chunk;
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

function offsetMismatch(durable: number): ServiceError {
  return new ServiceError("offset_mismatch", `The upload is at ${durable}`, {
    headers: { "Upload-Offset": String(durable) },
  });
}

function tooLong(): ServiceError {
  return new ServiceError("validation_failed", "body: goes beyond Upload-Length");
}

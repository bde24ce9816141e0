/** Adding bytes to a resumable upload. The caller holds the upload's lease. */
import type { IncomingBytes, Principal, RequestContext } from "../../../../handler.ts";
import type { BlobStore } from "../../../../ports/blob-store.ts";
import type { UploadRow } from "../../../../ports/tables.ts";
import { ServiceError } from "../../../../service-error.ts";
import { readVaultFor, requireWriter } from "../../../reach/access.ts";
import { watchMembership } from "../../../reach/watching.ts";
import { holdingToHeader } from "../encrypted-start.ts";
import type { UploadDeps } from "../verifier.ts";
import { checking, type ExpectedChecksum } from "./checksum.ts";
import { finish } from "./finish.ts";
import type { HeldUpload } from "./lease.ts";
import { isWhole, type Progress, readSigned } from "./rules.ts";

export interface Part {
  readonly offset: number;
  /** null: no bytes, which finishes an upload that only lacks its file. */
  readonly body: IncomingBytes | null;
  readonly checksum: ExpectedChecksum | null;
}

/** Throws `offset_mismatch`, `checksum_mismatch` (nothing of the part is kept), and what making the file throws. */
export async function appendPart(
  deps: UploadDeps,
  context: RequestContext<Principal>,
  held: HeldUpload,
  part: Part,
): Promise<Progress> {
  const { upload } = held;
  if (isWhole(upload)) return repeatLast(deps.blobs, upload, part);
  const durable = await readOffset(deps.blobs, upload);
  if (part.offset !== durable) throw offsetMismatch(durable);
  const left = upload.length - durable;
  if (part.body !== null && (part.body.length ?? 0) > left) throw tooLong();
  if (part.body !== null) await requireSender(deps, context, upload);
  const offset = left === 0 && part.checksum === null ? durable : await writePart(deps.blobs, upload, durable, part);
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

/** Accepts bytes for a shared vault: checks the membership now and for as long as they come, and so the generation. */
async function requireSender(deps: UploadDeps, context: RequestContext<Principal>, upload: UploadRow): Promise<void> {
  const signed = readSigned(upload);
  if (signed === null) return;
  const vault = await readVaultFor(deps.database, context.principal, upload.vault_id, "Upload");
  const { member } = await requireWriter(deps, context.principal, vault, { place: signed.version });
  if (member.address !== signed.version.signer)
    throw new ServiceError("statement_invalid", "version: the caller did not sign it");
  watchMembership(deps, context, vault);
}

async function writePart(
  blobs: BlobStore,
  upload: UploadRow,
  offset: number,
  { body, checksum }: Part,
): Promise<number> {
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
async function repeatLast(blobs: BlobStore, upload: UploadRow, { offset, body }: Part): Promise<Progress> {
  const done = { offset: upload.length, fileId: upload.finished_file_id };
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

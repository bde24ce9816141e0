/** Sends a content that waits for a commit: as a held upload, in one request if it is small. */
import type { Connection } from "../connection/options.ts";
import { ContractError } from "../http/errors.ts";
import { inContentBytes } from "./content-progress.ts";
import { createHasher, digestOf, toHex } from "./digest.ts";
import { PartSender } from "./resumable-sender.ts";
import { openSource, otherSize } from "./source.ts";
import { endUpload, openSession, openWholeSession, type Standing } from "./tus-session.ts";
import type { EncodedBytes, EncodedUpload } from "./upload-codec.ts";
import { PART_BYTES, type UploadOptions, WHOLE_BYTES } from "./upload-options.ts";

/** A content that the service holds. */
export interface HeldContent {
  readonly uploadId: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** `begun` gets the upload's id before most of its bytes are sent, so that it can be freed whatever happens. */
export async function sendHeld(
  connection: Connection,
  upload: EncodedUpload,
  given: UploadOptions,
  begun: (uploadId: string) => void,
): Promise<HeldContent> {
  const { bytes: content, target, idempotencyKey } = upload;
  const options = { ...given, onProgress: inContentBytes(upload, given.onProgress) };
  const { partBytes, ...sending } = { ...options, idempotencyKey };
  const wholeBytes = partBytes ?? WHOLE_BYTES;
  const whole = content.size === null || content.size <= wholeBytes ? await readWhole(content, wholeBytes) : null;
  if (whole !== null) {
    const digest = await digestOf(whole);
    const { uploadId, standing } = await openWholeSession(connection, target, { bytes: whole, digest }, sending);
    begun(uploadId);
    // A creation that was cut off has a part of them: the rest follows.
    if (standing.offset < whole.length)
      await sendRest(connection, { uploadId, standing }, openSource(whole), { ...options, size: whole.length });
    options.onProgress?.({ bytes: whole.length, total: whole.length });
    return { uploadId, bytes: whole.length, sha256: toHex(digest) };
  }
  const size = content.size ?? 0;
  const session = await openSession(connection, target, size, sending, null);
  begun(session.uploadId);
  const sha256 = await sendRest(connection, session, content, { ...options, size });
  return { uploadId: session.uploadId, bytes: size, sha256 };
}

/** The digest of all bytes. */
async function sendRest(
  connection: Connection,
  { uploadId, standing }: { readonly uploadId: string; readonly standing: Standing },
  content: EncodedBytes,
  options: UploadOptions & { readonly size: number },
): Promise<string> {
  const parts = { ...options, partBytes: options.partBytes ?? PART_BYTES };
  const sender = new PartSender(connection, uploadId, content, parts, await createHasher());
  return (await sender.sendRest(standing)).sha256;
}

async function readWhole(content: EncodedBytes, most: number): Promise<Uint8Array> {
  const { size } = content;
  const buffer = new Uint8Array((size ?? most) + 1);
  const filled = await content.read(0, buffer);
  if (size !== null && filled !== size) throw otherSize(size);
  if (filled < buffer.length) return buffer.subarray(0, filled);
  throw new ContractError("request", "files.commit", ["size: needed for a stream above one part"]);
}

/** Frees what no commit has used. One that was used keeps its bytes: they are its file's by then. */
export async function freeHeld(connection: Connection, uploadIds: Iterable<string>): Promise<void> {
  await Promise.all(Array.from(uploadIds, (uploadId) => endUpload(connection, uploadId)));
}

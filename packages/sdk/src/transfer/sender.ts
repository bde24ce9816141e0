/** Sends the bytes of one attempt, by their size: in a batch, in one request, in parts, or as a stream of unknown size. */
import { filesGroup } from "@coffer/contract";
import type { CallOptions, Connection } from "../connection/options.ts";
import type { ByteBody } from "../http/accepted-bytes.ts";
import { callOn } from "../http/call.ts";
import { ContractError, IntegrityError } from "../http/errors.ts";
import { canStreamRequests } from "../http/runtime.ts";
import type { WireFile } from "../storage/file.ts";
import type { BatchSlot } from "./batch.ts";
import { inContentBytes } from "./content-progress.ts";
import { createHasher, digestOf, toBase64, toHex } from "./digest.ts";
import type { Checkpoint } from "./journals.ts";
import { sendParts } from "./resumable-sender.ts";
import { otherSize } from "./source.ts";
import type { EncodedUpload, SentFile, SharedStatements, UploadTarget } from "./upload-codec.ts";
import { MAX_BATCHED_BYTES, PART_BYTES, WHOLE_BYTES, type UploadOptions } from "./upload-options.ts";

export interface SendOptions extends UploadOptions {
  /** The place of a new file among others. What is too large for a batch gives it back. */
  readonly batch?: BatchSlot | undefined;
  /** Keeps the session of an upload in parts over a crash. */
  readonly journal?: Checkpoint | null | undefined;
}

/**
 * Compares the server's record with the sent bytes.
 * @throws IntegrityError
 */
export function requireSameBytes(file: WireFile, bytes: number, sha256: string): WireFile {
  if (file.size === bytes && file.sha256 === sha256) return file;
  throw new IntegrityError(
    `The server holds other bytes than were sent: file ${file.id} has ${String(file.size)} of ${String(bytes)} bytes or another digest`,
  );
}

/**
 * Resolves when the server holds exactly these bytes.
 * @throws IntegrityError if its record shows others.
 */
export async function sendUpload(
  connection: Connection,
  upload: EncodedUpload,
  options: SendOptions,
): Promise<WireFile> {
  const onProgress = inContentBytes(upload, options.onProgress);
  const { bytes, file, sha256 } = await sendBySize(connection, upload, { ...options, onProgress });
  return requireSameBytes(file, bytes, sha256);
}

async function sendBySize(connection: Connection, upload: EncodedUpload, options: SendOptions): Promise<SentFile> {
  const { bytes, target } = upload;
  const { size } = bytes;
  if (size === null || size > MAX_BATCHED_BYTES || target.kind === "version") options.batch?.release();
  const wholeBytes = options.partBytes ?? WHOLE_BYTES;
  if (size !== null && size > wholeBytes) {
    const partBytes = options.partBytes ?? PART_BYTES;
    return sendParts(connection, upload, { ...options, size, partBytes });
  }
  const head = new Uint8Array(size === null ? wholeBytes : size + 1);
  const filled = await bytes.read(0, head);
  if (size !== null && filled !== size) throw otherSize(size);
  if (size === null && filled === head.length) return sendStream(connection, upload, head, options);
  return sendWhole(connection, upload, head.subarray(0, filled), options);
}

async function sendWhole(
  connection: Connection,
  { idempotencyKey, target }: EncodedUpload,
  bytes: Uint8Array,
  { batch, onProgress, retries, signal }: SendOptions,
): Promise<SentFile> {
  const digest = await digestOf(bytes);
  const total = bytes.length;
  const sent = (file: WireFile): SentFile => ({ file, bytes: total, sha256: toHex(digest) });
  if (batch !== undefined && target.kind === "file" && total <= MAX_BATCHED_BYTES)
    return sent(await batch.add(target, { bytes, digest }));
  // The transport's pull shows what was sent; `onSent` starts at 0 with every attempt, so progress rolls back by
  // itself.
  const onSent = (count: number): void => onProgress?.({ bytes: count, total });
  const file = await requestStore(connection, target, bytes, digest, { signal, idempotencyKey, retries, onSent });
  return sent(file);
}

const READ_BYTES = 64 * 1024;

/**
 * One request with a stream that is longer than one request's bytes. It cannot be repeated: give `size` to get
 * resumable parts. Browsers cannot send it at all. `head`: the bytes that were read to learn that it is long.
 */
async function sendStream(
  connection: Connection,
  { bytes, idempotencyKey, target }: EncodedUpload,
  head: Uint8Array,
  { onProgress, signal }: UploadOptions,
): Promise<SentFile> {
  if (!canStreamRequests())
    throw new ContractError("request", "files.upload", ["size: needed for a stream above one part in this runtime"]);
  const hasher = await createHasher();
  let total = 0;
  async function* chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    for (let offset = 0; offset < head.length; offset += READ_BYTES)
      yield count(head.subarray(offset, offset + READ_BYTES));
    for (;;) {
      const chunk = new Uint8Array(READ_BYTES);
      const filled = await bytes.read(total, chunk);
      if (filled > 0) yield count(chunk.subarray(0, filled));
      if (filled < chunk.length) return;
    }
  }
  function count(chunk: Uint8Array): Uint8Array {
    hasher.update(chunk);
    total += chunk.length;
    return chunk;
  }
  const onSent = (sent: number): void => onProgress?.({ bytes: sent, total: null });
  const file = await requestStore(connection, target, chunks(), null, { signal, idempotencyKey, onSent });
  return { file, bytes: total, sha256: toHex(hasher.digest()) };
}

/** One raw request for a new file or a version. `digest`: the SHA-256 of the body. null: only its end shows it. */
async function requestStore(
  connection: Connection,
  target: UploadTarget,
  body: ByteBody,
  digest: Uint8Array | null,
  options: CallOptions,
): Promise<WireFile> {
  const common = {
    ...(target.contentType === undefined ? {} : { "content-type": target.contentType }),
    ...sharedHeaders(target.shared),
    ...(digest === null ? {} : { "repr-digest": `sha-256=:${toBase64(digest)}:` }),
  };
  if (target.kind === "version") {
    const headers = { ...common, ...(target.ifMatch === undefined ? {} : { "if-match": target.ifMatch }) };
    const { fileId, keep } = target;
    const input = { params: { fileId }, query: keep === undefined ? {} : { keep }, headers, body };
    return (await callOn(connection, filesGroup.replace, input, options)).file;
  }
  const { vaultId, folderId, name, ifAbsent } = target;
  const query = {
    ...(name === null ? {} : { name }),
    ...(vaultId === undefined ? {} : { vaultId }),
    ...(folderId === undefined ? {} : { folderId }),
  };
  const headers = { ...common, ...(ifAbsent === true ? ({ "if-none-match": "*" } as const) : {}) };
  return (await callOn(connection, filesGroup.upload, { query, headers, body }, options)).file;
}

function sharedHeaders(shared: SharedStatements | undefined) {
  if (shared === undefined) return {};
  return {
    "coffer-version": shared.version,
    "coffer-entry": shared.entry,
    "coffer-metadata": shared.metadata,
    "coffer-name-index": shared.nameIndex,
    ...(shared.restores === undefined ? {} : { "coffer-restores": shared.restores }),
  };
}

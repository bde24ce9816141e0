import { clientApi as api } from "@coffer/contract";
import { uploadsGroup } from "@coffer/contract/uploads";
import { callOn, send } from "../call.ts";
import { createHasher, digestOf, toBase64, toHex, type Hasher } from "../digest.ts";
import { AbortError, ApiError, ContractError } from "../errors.ts";
import type { Connection } from "../options.ts";
import { isWorthRepeating, retryDelay } from "../retry.ts";
import { pause } from "../watch.ts";
import { notResumable, sourceChanged, type Source } from "./source.ts";
import { verified, type Target, type UploadResult } from "./target.ts";
import { endUpload, findStanding, openSession, parseStanding, TUS, type Standing } from "./upload-session.ts";
import type { UploadOptions } from "./input.ts";
import type { Checkpoint } from "../journals.ts";

type PartOptions = UploadOptions & { readonly partBytes: number };

interface Transfer {
  readonly connection: Connection;
  readonly uploadId: string;
  readonly size: number;
  readonly options: PartOptions;
}

/**
 * Uploads over tus 1.0 in sequential parts, each with its checksum. After a failure it asks for the durable offset and
 * goes on there. If it cannot go on, it ends the session on the server, unless a checkpoint will go on with it.
 */
export async function uploadInParts(
  connection: Connection,
  target: Target,
  source: Source,
  options: PartOptions,
  checkpoint?: Checkpoint,
): Promise<UploadResult> {
  const size = source.size ?? 0;
  const { uploadId, standing } = await openSession(connection, target, size, options, checkpoint);
  const transfer: Transfer = { connection, uploadId, size, options };
  try {
    const hasher = await hashPrefix(source, standing.offset, options);
    const fileId = await sendParts(transfer, source, hasher, standing);
    if (target.kind === "version" && fileId !== target.fileId)
      throw new ContractError("response", uploadsGroup.append.id, ["headers.file-id: not what was asked for"]);
    const file = (await callOn(connection, api.files.get, { params: { fileId } }, { signal: options.signal })).file;
    return verified(file, size, toHex(hasher.digest()));
  } catch (error) {
    if (checkpoint?.survives(error) !== true) await endUpload(connection, uploadId);
    throw error;
  }
}

/** Hashes the bytes that the server already has, so that the digest covers the whole. */
async function hashPrefix(source: Source, length: number, options: PartOptions): Promise<Hasher> {
  const hasher = await createHasher();
  const buffer = new Uint8Array(Math.min(length, 1024 * 1024));
  for (let offset = 0; offset < length;) {
    if (options.signal?.aborted === true) throw new AbortError(options.signal.reason);
    const target = buffer.subarray(0, Math.min(buffer.length, length - offset));
    if ((await source.read(offset, target)) < target.length)
      throw sourceChanged("The source is shorter than when its upload began");
    hasher.update(target);
    offset += target.length;
  }
  return hasher;
}

async function sendParts(transfer: Transfer, source: Source, hasher: Hasher, from: Standing): Promise<string> {
  const { size, options } = transfer;
  // One buffer for all parts: memory stays at a part's size whatever the garbage collector does.
  const buffer = new Uint8Array(Math.min(options.partBytes, size - from.offset));
  let standing = from;
  options.onProgress?.({ bytes: standing.offset, total: size });
  while (standing.offset < size) {
    const part = buffer.subarray(0, Math.min(buffer.length, size - standing.offset));
    if ((await source.read(standing.offset, part)) < part.length)
      throw sourceChanged("The source ended before its size");
    if (standing.offset + part.length === size) await refuseMore(source, size);
    hasher.update(part);
    standing = await sendPart(transfer, part, standing.offset);
  }
  const fileId =
    standing.fileId ?? (await findStanding(transfer.connection, transfer.uploadId, size, options))?.fileId ?? null;
  if (fileId === null)
    throw new ContractError("response", uploadsGroup.append.id, ["headers.file-id: missing on a finished upload"]);
  return fileId;
}

async function refuseMore(source: Source, size: number): Promise<void> {
  if ((await source.read(size, new Uint8Array(1))) > 0) throw sourceChanged("The source is longer than its size");
}

/** Sends one part, as often as needed, from wherever the server is inside it. */
async function sendPart(transfer: Transfer, part: Uint8Array, start: number): Promise<Standing> {
  const { connection, options } = transfer;
  const end = start + part.length;
  let standing: Standing = { offset: start, fileId: null };
  for (let failures = 0; standing.offset < end;) {
    try {
      standing = await append(transfer, part.subarray(standing.offset - start), standing.offset);
      connection.budget.succeeded();
      failures = 0;
    } catch (error) {
      failures += 1;
      if (failures > (options.retries ?? connection.retry.limit) || !canGoOn(error) || !connection.budget.take())
        throw error;
      await pause(
        connection.clock,
        retryDelay(connection.retry, failures, error, () => connection.clock.random()),
        options.signal,
      );
      const found = await findStanding(connection, transfer.uploadId, transfer.size, options);
      if (found === null) throw error;
      if (found.offset < start || found.offset > end) throw notResumable();
      if (found.offset > standing.offset) failures = 0;
      standing = found;
      options.onProgress?.({ bytes: standing.offset, total: transfer.size });
    }
  }
  return standing;
}

async function append(transfer: Transfer, bytes: Uint8Array, offset: number): Promise<Standing> {
  const { connection, uploadId, size, options } = transfer;
  const headers = { ...TUS, "upload-offset": offset, "upload-checksum": `sha256 ${toBase64(await digestOf(bytes))}` };
  const onSent = (sent: number): void => options.onProgress?.({ bytes: offset + sent, total: size });
  const answer = await send(
    connection,
    uploadsGroup.append,
    { params: { uploadId }, headers, body: bytes },
    { signal: options.signal, onSent },
  );
  const standing = parseStanding(answer, size);
  if (standing.offset <= offset || standing.offset > offset + bytes.length) {
    throw new ContractError("response", uploadsGroup.append.id, [
      "headers.upload-offset: not after the bytes that were sent",
    ]);
  }
  return standing;
}

/** Repeatable failures, and an offset that moved meanwhile: a request for the present offset cures both. */
function canGoOn(error: unknown): boolean {
  return isWorthRepeating(error) || (error instanceof ApiError && error.code === "offset_mismatch");
}

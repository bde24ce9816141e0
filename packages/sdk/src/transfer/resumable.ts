import { filesGroup, uploadsGroup } from "@coffer/contract";
import { callOn, send } from "../http/call.ts";
import { createHasher, digestOf, toBase64, toHex, type Hasher } from "./digest.ts";
import { AbortError, ApiError, ContractError } from "../http/errors.ts";
import type { Connection } from "../connection/options.ts";
import { isWorthRepeating, retryDelay } from "../http/retry.ts";
import { pause } from "../http/time-limit.ts";
import { notResumable, otherSize, type Source } from "./source.ts";
import { verified, type Target, type UploadResult } from "./target.ts";
import { endUpload, findStanding, openSession, parseStanding, TUS, type Standing } from "./upload-session.ts";
import type { UploadOptions } from "./input.ts";
import type { Checkpoint } from "./journals.ts";

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
    const hasher = await createHasher();
    const fileId = await sendParts(transfer, source, hasher, standing);
    if (target.kind === "version" && fileId !== target.fileId)
      throw wrongAnswer("headers.file-id: not what was asked for");
    const file = (await callOn(connection, filesGroup.get, { params: { fileId } }, { signal: options.signal })).file;
    return verified(file, size, toHex(hasher.digest()));
  } catch (error) {
    if (checkpoint?.survives(error) !== true) await endUpload(connection, uploadId);
    throw error;
  }
}

/** A part in memory, and its digest. */
interface Part {
  readonly bytes: Uint8Array;
  readonly digest: Uint8Array;
}

async function sendParts(transfer: Transfer, source: Source, hasher: Hasher, from: Standing): Promise<string> {
  const { size, options } = transfer;
  const readsAhead = source.readsAhead === true;
  // One or two buffers for all parts: memory stays at that whatever the garbage collector does.
  let buffer = new Uint8Array(Math.min(options.partBytes, size));
  let other = readsAhead ? buffer.slice() : buffer;
  const read = async (offset: number, end = size): Promise<Part> => {
    if (options.signal?.aborted === true) throw new AbortError(options.signal.reason);
    const bytes = buffer.subarray(0, end - offset);
    [buffer, other] = [other, buffer];
    const isShort = (await source.read(offset, bytes)) < bytes.length;
    if (isShort || (offset + bytes.length === size && (await source.read(size, new Uint8Array(1))) > 0))
      throw otherSize(size);
    hasher.update(bytes);
    return { bytes, digest: await digestOf(bytes) };
  };
  // The digest covers the whole, also what the server has already.
  for (let offset = 0; offset < from.offset;) offset += (await read(offset, from.offset)).bytes.length;
  let standing = from;
  options.onProgress?.({ bytes: standing.offset, total: size });
  let next: Promise<Part> | null = null;
  while (standing.offset < size) {
    const part: Part = await (next ?? read(standing.offset));
    const end = standing.offset + part.bytes.length;
    // While the server stores this part, the next is read. Whatever happens to this one, nothing is read afterwards.
    next = readsAhead && end < size ? read(end) : null;
    const settled = next?.catch(() => undefined);
    try {
      standing = await sendPart(transfer, part, standing.offset);
    } finally {
      await settled;
    }
  }
  const fileId =
    standing.fileId ?? (await findStanding(transfer.connection, transfer.uploadId, size, options))?.fileId ?? null;
  if (fileId === null) throw wrongAnswer("headers.file-id: missing on a finished upload");
  return fileId;
}

function wrongAnswer(problem: string): ContractError {
  return new ContractError("response", uploadsGroup.append.id, [problem]);
}

/** Sends one part, as often as needed, from wherever the server is inside it. */
async function sendPart(transfer: Transfer, part: Part, start: number): Promise<Standing> {
  const { connection, options } = transfer;
  const end = start + part.bytes.length;
  let standing: Standing = { offset: start, fileId: null };
  for (let failures = 0; standing.offset < end;) {
    try {
      const done = standing.offset - start;
      const bytes = part.bytes.subarray(done);
      const digest = done === 0 ? part.digest : await digestOf(bytes);
      standing = await append(transfer, { bytes, digest }, standing.offset);
      connection.budget.succeeded();
      failures = 0;
    } catch (error) {
      failures += 1;
      if (failures > (options.retries ?? connection.retry.limit) || !canGoOn(error) || !connection.budget.acquire())
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

async function append(transfer: Transfer, { bytes, digest }: Part, offset: number): Promise<Standing> {
  const { connection, uploadId, size, options } = transfer;
  const headers = { ...TUS, "upload-offset": offset, "upload-checksum": `sha256 ${toBase64(digest)}` };
  const onSent = (sent: number): void => options.onProgress?.({ bytes: offset + sent, total: size });
  const answer = await send(
    connection,
    uploadsGroup.append,
    { params: { uploadId }, headers, body: bytes },
    { signal: options.signal, onSent },
  );
  const standing = parseStanding(answer, size);
  if (standing.offset <= offset || standing.offset > offset + bytes.length)
    throw wrongAnswer("headers.upload-offset: not after the bytes that were sent");
  return standing;
}

/** Repeatable failures, and an offset that moved meanwhile: a request for the present offset cures both. */
function canGoOn(error: unknown): boolean {
  return isWorthRepeating(error) || (error instanceof ApiError && error.code === "offset_mismatch");
}

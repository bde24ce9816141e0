import { clientApi as api, HEADERS, nameProblem, type CallInput } from "@coffer/contract";
import { TUS_VERSION, uploadsGroup } from "@coffer/contract/uploads";
import { callOn, send } from "../call.ts";
import { createHasher, digestOf, toBase64, toHex, type Hasher } from "../digest.ts";
import { AbortError, ApiError, ContractError, SdkError } from "../errors.ts";
import type { Connection } from "../options.ts";

import { isWorthRepeating, retryDelay } from "../retry.ts";
import { pause } from "../watch.ts";
import { notResumable, sourceChanged, type Source } from "./source.ts";
import { verified, type Target, type UploadResult } from "./target.ts";
import type { UploadOptions } from "./upload.ts";

/** Keeps an upload session over a crash. Every method resolves when it is durable. */
export interface Checkpoint {
  /** Session to go on with; null: begin one. */
  readonly uploadId: string | null;
  readonly idempotencyKey: string;
  /** Before any byte is sent. */
  created(uploadId: string): Promise<void>;
  /** The session is gone on the server: forget it and name the next creation anew. */
  restarted(): Promise<string>;
  /** The session can be taken up later after this failure, so it must not be ended. */
  survives(error: unknown): boolean;
}

type PartOptions = UploadOptions & { readonly partBytes: number };

/** Where a session stands: `offset` bytes are durable; `fileId` once all are. */
interface Standing {
  readonly offset: number;
  readonly fileId: string | null;
}

interface Transfer {
  readonly connection: Connection;
  readonly uploadId: string;
  readonly size: number;
  readonly options: PartOptions;
}

const TUS = { "tus-resumable": TUS_VERSION };
/** How long an ended upload waits for the server to free its session. */
const CLEAN_UP_MS = 5_000;
/** The part that was cut off may still hold the session's lock for a moment (423). */
const CLEAN_UP_REPEATS = 8;

/**
 * Uploads over tus 1.0 in sequential parts, each with its checksum. After a failure it asks for the durable offset and goes on
 * there. When it cannot go on it ends the session on the server, unless a checkpoint will take it up.
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
    const file = (await callOn(connection, api.files.get, { params: { fileId } }, { signal: options.signal })).file;
    return verified(file, size, toHex(hasher.digest()));
  } catch (error) {
    if (checkpoint?.survives(error) !== true) await endUpload(connection, uploadId);
    throw error;
  }
}

async function openSession(
  connection: Connection,
  target: Target,
  size: number,
  options: PartOptions,
  checkpoint: Checkpoint | undefined,
): Promise<{ uploadId: string; standing: Standing }> {
  if (checkpoint !== undefined && checkpoint.uploadId !== null) {
    const standing = await findStanding(connection, checkpoint.uploadId, size, options);
    if (standing !== null && (await isOfUse(connection, standing, options)))
      return { uploadId: checkpoint.uploadId, standing };
    return createSession(
      connection,
      target,
      size,
      { ...options, idempotencyKey: await checkpoint.restarted() },
      checkpoint,
    );
  }
  return createSession(
    connection,
    target,
    size,
    checkpoint === undefined ? options : { ...options, idempotencyKey: checkpoint.idempotencyKey },
    checkpoint,
  );
}

/** A session that has made its file is of no use once that file is in the trash or gone: the bytes are wanted again. */
async function isOfUse(connection: Connection, { fileId }: Standing, { signal }: PartOptions): Promise<boolean> {
  if (fileId === null) return true;
  try {
    return (await callOn(connection, api.files.get, { params: { fileId } }, { signal })).file.trashedAt === null;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}

async function createSession(
  connection: Connection,
  target: Target,
  size: number,
  options: PartOptions,
  checkpoint: Checkpoint | undefined,
): Promise<{ uploadId: string; standing: Standing }> {
  const { signal, idempotencyKey, retries } = options;
  const answer = await send(
    connection,
    uploadsGroup.create,
    { headers: creationHeaders(target, size) },
    { signal, idempotencyKey, retries },
  );
  // Only the id of Location is used: the credential never goes to an address that an answer names.
  const uploadId = /\/api\/uploads\/([0-9a-f-]{36})$/.exec(answer.headers.get("location") ?? "")?.[1];
  if (uploadId === undefined)
    throw new ContractError("response", uploadsGroup.create.id, ["headers.location: not an upload"]);
  await checkpoint?.created(uploadId);
  // A repeated creation (same Idempotency-Key) answers an earlier session, which may hold bytes already.
  if (answer.headers.get(HEADERS.idempotentReplay) === null) return { uploadId, standing: { offset: 0, fileId: null } };
  const standing = await findStanding(connection, uploadId, size, options);
  if (standing !== null) return { uploadId, standing };
  // That session was given up: its key would answer it for a day, so the next one is named anew.
  const renamed = (await checkpoint?.restarted()) ?? crypto.randomUUID();
  return createSession(connection, target, size, { ...options, idempotencyKey: renamed }, checkpoint);
}

function creationHeaders(target: Target, size: number): CallInput<typeof uploadsGroup.create, Uint8Array>["headers"] {
  const headers = { ...TUS, "upload-length": size, "upload-metadata": renderMetadata(target) };
  if (target.kind === "version")
    return target.ifMatch === undefined ? headers : { ...headers, "if-match": target.ifMatch };
  return target.ifAbsent === true ? { ...headers, "if-none-match": "*" } : headers;
}

/** tus 1.0 §Upload-Metadata: `key base64(value)`, comma separated. */
function renderMetadata(target: Target): string {
  const fields: Record<string, string | undefined> =
    target.kind === "version"
      ? { fileId: target.fileId, filetype: target.contentType }
      : {
          filename: target.name === null ? undefined : parseName(target.name),
          filetype: target.contentType,
          vaultId: target.vaultId,
          folderId: target.folderId,
        };
  return Object.entries({ ...fields, ...target.shared })
    .flatMap(([key, value]) => (value === undefined ? [] : [`${key} ${toBase64(new TextEncoder().encode(value))}`]))
    .join(",");
}

function parseName(name: string): string {
  const problem = nameProblem(name);
  if (problem !== null) throw new ContractError("request", uploadsGroup.create.id, [`name: ${problem}`]);
  return name.normalize("NFC");
}

/** Hashes what the server already has, so that the digest covers the whole. */
async function hashPrefix(source: Source, length: number, options: PartOptions): Promise<Hasher> {
  const hasher = await createHasher();
  const buffer = new Uint8Array(Math.min(length, 1024 * 1024));
  for (let offset = 0; offset < length;) {
    if (options.signal?.aborted === true) throw new AbortError();
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

/** Sends one part, as often as needed, from wherever the server stands inside it. */
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

/** Repeatable failures, and an offset that moved under us: both are cured by asking where the upload stands. */
function canGoOn(error: unknown): boolean {
  return isWorthRepeating(error) || (error instanceof ApiError && error.code === "offset_mismatch");
}

/** Where the session stands; null when the server has it no more. */
async function findStanding(
  connection: Connection,
  uploadId: string,
  size: number,
  options: PartOptions,
): Promise<Standing | null> {
  try {
    return parseStanding(
      await send(
        connection,
        uploadsGroup.head,
        { params: { uploadId }, headers: TUS },
        { signal: options.signal, retries: options.retries },
      ),
      size,
    );
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 410)) return null;
    throw error;
  }
}

function parseStanding(answer: { readonly headers: Headers }, size: number): Standing {
  const text = answer.headers.get("upload-offset") ?? "";
  const offset = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!(offset <= size))
    throw new ContractError("response", "uploads", ["headers.upload-offset: not an offset of this upload"]);
  return { offset, fileId: answer.headers.get(HEADERS.fileId) };
}

/** Frees the session on the server as well as it goes: the failure that led here matters more, and sessions expire by themselves. */
export async function endUpload(connection: Connection, uploadId: string): Promise<void> {
  try {
    await send(
      connection,
      uploadsGroup.terminate,
      { params: { uploadId }, headers: TUS },
      { retries: CLEAN_UP_REPEATS, attemptMs: CLEAN_UP_MS, totalMs: CLEAN_UP_MS },
    );
  } catch (error) {
    if (!(error instanceof SdkError)) throw error;
  }
}

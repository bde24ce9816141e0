/** An upload session at the server (tus 1.0): begun or found again, asked for its offset, ended. */
import { filesGroup, HEADERS, TUS_VERSION, uploadsGroup, type CallInput } from "@coffer/contract";
import { callOn, send } from "../http/call.ts";
import { chosenName } from "../http/chosen-name.ts";
import { toBase64 } from "./digest.ts";
import { ApiError, ContractError, SdkError } from "../http/errors.ts";
import type { Connection } from "../connection/options.ts";
import type { UploadTarget } from "./upload-codec.ts";
import type { UploadOptions } from "./upload-options.ts";
import type { Checkpoint, UploadJournal } from "./journals.ts";

/** The state of a session: `offset` bytes are durable; `fileId` once all are. */
export interface Standing {
  readonly offset: number;
  readonly fileId: string | null;
}

/** On every request of a session. */
export const TUS = { "tus-resumable": TUS_VERSION };
/**
 * How long an ended upload waits for the server to free its session. The part that was cut off may still hold the
 * session's lock for a moment (423), so the time alone bounds the repeats.
 */
const CLEAN_UP_MS = 5_000;

/** Goes on with the session of the checkpoint, if it is still usable; else begins one. */
export async function openSession(
  connection: Connection,
  target: UploadTarget,
  size: number,
  options: UploadOptions,
  checkpoint: Checkpoint | null,
): Promise<{ uploadId: string; standing: Standing }> {
  let { idempotencyKey } = checkpoint ?? options;
  if (checkpoint !== null && checkpoint.uploadId !== null) {
    const { uploadId } = checkpoint;
    const standing = await findStanding(connection, uploadId, size, options);
    if (standing !== null && (await isOfUse(connection, standing, options))) return { uploadId, standing };
    idempotencyKey = await checkpoint.restarted();
  }
  return createSession(connection, target, size, { ...options, idempotencyKey }, checkpoint);
}

/** All bytes of an upload, and their digest. */
export interface WholeContent {
  readonly bytes: Uint8Array;
  readonly digest: Uint8Array;
}

/** Begins a session, and sends all its bytes with the creation. What of them is there, `standing` says. */
export function openWholeSession(
  connection: Connection,
  target: UploadTarget,
  whole: WholeContent,
  options: UploadOptions,
): Promise<{ uploadId: string; standing: Standing }> {
  return createSession(connection, target, whole.bytes.length, options, null, { whole });
}

/** A session that has made its file is useless once that file is in the trash or gone: the caller wants the bytes again. */
async function isOfUse(connection: Connection, { fileId }: Standing, { signal }: UploadOptions): Promise<boolean> {
  if (fileId === null) return true;
  try {
    return (await callOn(connection, filesGroup.get, { params: { fileId } }, { signal })).file.trashedAt === null;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}

async function createSession(
  connection: Connection,
  target: UploadTarget,
  size: number,
  options: UploadOptions,
  checkpoint: Checkpoint | null,
  { isRenamed = false, whole = null }: { readonly isRenamed?: boolean; readonly whole?: WholeContent | null } = {},
): Promise<{ uploadId: string; standing: Standing }> {
  const { signal, idempotencyKey, retries } = options;
  const headers = creationHeaders(target, size);
  const input =
    whole === null
      ? { headers }
      : {
          headers: { ...headers, "upload-checksum": `sha256 ${toBase64(whole.digest)}` },
          body: whole.bytes,
        };
  const answer = await send(connection, uploadsGroup.create, input, { signal, idempotencyKey, retries });
  // Only the id of Location is used: the credential never goes to an address that an answer names.
  const uploadId = /\/api\/uploads\/([0-9a-f-]{36})$/.exec(answer.headers.get("location") ?? "")?.[1];
  if (uploadId === undefined)
    throw new ContractError("response", uploadsGroup.create.id, ["headers.location: not an upload"]);
  await checkpoint?.created(uploadId);
  // A repeated creation (same Idempotency-Key) answers an earlier session, which may hold bytes already.
  if (answer.headers.get(HEADERS.idempotentReplay) === null)
    return { uploadId, standing: whole === null ? { offset: 0, fileId: null } : parseStanding(answer, size) };
  const standing = await findStanding(connection, uploadId, size, options);
  if (standing !== null) return { uploadId, standing };
  if (isRenamed) throw new ContractError("response", uploadsGroup.create.id, ["a new key answers an old session"]);
  // That session was given up: its key would answer it for a day, so the next creation has a new key.
  const renamed = (await checkpoint?.restarted()) ?? crypto.randomUUID();
  const renaming = { ...options, idempotencyKey: renamed };
  return createSession(connection, target, size, renaming, checkpoint, { isRenamed: true, whole });
}

function creationHeaders(
  target: UploadTarget,
  size: number,
): CallInput<typeof uploadsGroup.create, Uint8Array>["headers"] {
  const headers = { ...TUS, "upload-length": size, "upload-metadata": renderMetadata(target) };
  if (target.kind === "version")
    return target.ifMatch === undefined ? headers : { ...headers, "if-match": target.ifMatch };
  return target.ifAbsent === true ? { ...headers, "if-none-match": "*" } : headers;
}

/** tus 1.0 §Upload-Metadata: `key base64(value)`, comma separated. */
function renderMetadata(target: UploadTarget): string {
  const fields: Record<string, string | undefined> =
    target.kind === "version"
      ? {
          fileId: target.fileId,
          filetype: target.contentType,
          keep: target.keep?.toString(),
          held: target.held === undefined ? undefined : "true",
        }
      : {
          filename: target.name === null ? undefined : chosenName(uploadsGroup.create.id, target.name),
          filetype: target.contentType,
          vaultId: target.vaultId,
          folderId: target.folderId,
        };
  return Object.entries({ ...fields, ...target.shared })
    .flatMap(([key, value]) => (value === undefined ? [] : [`${key} ${toBase64(new TextEncoder().encode(value))}`]))
    .join(",");
}

/** The session's state; null when the server has the session no more. */
export async function findStanding(
  connection: Connection,
  uploadId: string,
  size: number,
  options: UploadOptions,
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

/** @throws ContractError for an offset outside the upload. */
export function parseStanding(answer: { readonly headers: Headers }, size: number): Standing {
  const text = answer.headers.get("upload-offset") ?? "";
  const offset = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!(offset <= size))
    throw new ContractError("response", "uploads", ["headers.upload-offset: not an offset of this upload"]);
  return { offset, fileId: answer.headers.get(HEADERS.fileId) };
}

/** Frees the session on the server, as best effort: the failure that led here matters more, and sessions expire by themselves. */
export async function endUpload(connection: Connection, uploadId: string): Promise<void> {
  try {
    await send(
      connection,
      uploadsGroup.terminate,
      { params: { uploadId }, headers: TUS },
      { retries: Infinity, totalMs: CLEAN_UP_MS },
    );
  } catch (error) {
    if (!(error instanceof SdkError)) throw error;
  }
}

/** Gives up what was begun: the journal forgets it, and the server frees it. */
export async function discardUpload(connection: Connection, journal: UploadJournal | null): Promise<void> {
  const uploadId = (await journal?.discard()) ?? null;
  if (uploadId !== null) await endUpload(connection, uploadId);
}

/** The creation of a resumable upload, perhaps with its first bytes. */
import { type api, type HandlerInput, MAX_COMMIT_BYTES } from "@coffer/contract";
import { type CreationContext, type IncomingBytes, type Principal, type Recorded, Reply } from "../../../../handler.ts";
import type { UploadRow } from "../../../../ports/tables.ts";
import { ServiceError } from "../../../../service-error.ts";
import { type AccountAct, actAs } from "../../../account/act.ts";
import { holdBudgets } from "../../../budgets/spending.ts";
import { readFreeStorage } from "../../../holds/free-storage.ts";
import { KEPT_AFTER_EXPIRY_MS } from "../../../holds/rules.ts";
import { findPlace } from "../../../items/placing.ts";
import { readVaultFor } from "../../../reach/access.ts";
import { readFileFor } from "../../../reach/items.ts";
import { findItem } from "../../../reach/store.ts";
import { DEFAULT_CONTENT_TYPE } from "../../rules.ts";
import { readRoom, requireRoom } from "../receive.ts";
import { parseSignedUpload, type SentUpload } from "../signed-upload.ts";
import type { ContentChange, UploadDeps } from "../verifier.ts";
import { verify } from "../verify.ts";
import { appendPart } from "./append.ts";
import { parseChecksum } from "./checksum.ts";
import { withUpload, type WritingDeps } from "./lease.ts";
import { parseMetadata, type UploadMetadata } from "./metadata.ts";
import { creationHeaders, locationOf, readSigned, uploadHeaders } from "./rules.ts";
import { insertUpload } from "./store.ts";

type Creation = HandlerInput<typeof api.uploads.create, IncomingBytes>;

export async function createUpload(
  deps: WritingDeps,
  { headers, body }: Creation,
  context: CreationContext<Principal>,
): Promise<Recorded<void>> {
  const checksum = parseChecksum(headers["upload-checksum"]);
  const metadata = parseMetadata(headers["upload-metadata"]);
  const upload = await planUpload(deps, context.principal, headers, metadata);
  const recorded = await insertPlanned(deps, context, upload);
  // Bytes that come along have a media type (tus 1.0.0, "Creation With Upload").
  const bringsBytes = body.contentType !== null && body.length !== 0;
  if (!bringsBytes && upload.length > 0) {
    return recorded.withHeaders(uploadHeaders(upload, { offset: 0, fileId: null }));
  }
  const part = { offset: 0, body: bringsBytes ? body : null, checksum };
  const begun = { id: upload.id, find: () => Promise.resolve(upload) };
  try {
    const progress = await withUpload(deps, begun, (found, lease) =>
      appendPart(deps, context, { upload: found, lease }, part),
    );
    return recorded.withHeaders(uploadHeaders(upload, progress));
  } catch (error) {
    // The upload exists, and the sender can go on with it: it must learn where.
    if (!(error instanceof ServiceError)) throw error;
    throw new ServiceError(error.code, error.message, {
      headers: { ...error.headers, Location: locationOf(upload) },
      cause: error.cause,
    });
  }
}

/** Refusals that need no transaction come here, before any byte; the finish decides again. */
async function planUpload(
  deps: UploadDeps,
  principal: Principal,
  headers: Creation["headers"],
  metadata: UploadMetadata,
): Promise<UploadRow> {
  const length = headers["upload-length"];
  const change = parseChange(headers, metadata);
  const isHeld = metadata.held !== undefined;
  if (isHeld && length > MAX_COMMIT_BYTES)
    throw new ServiceError("file_too_large", `A held upload may hold at most ${MAX_COMMIT_BYTES} bytes, as a commit`);
  const verified = await verify(deps, principal, change, { isHeld });
  const { verifier, vault, accountId, vaultId, folderId, old, made, freed } = verified;
  await verified.ahead;
  if (old !== null && headers["if-none-match"] !== undefined)
    throw new ServiceError("precondition_failed", "The file exists: If-None-Match refuses it");
  if (made !== null) throw new ServiceError("statement_invalid", "version: the file of this statement is there");
  const { filetype, filename } = metadata;
  if (vault !== null && vault.plain_names !== 1 && filetype !== undefined)
    throw new ServiceError("validation_failed", "headers.upload-metadata: filetype: this vault's names are encrypted");
  verifier.requireLength(length);
  const name = old?.name ?? verifier.nameColumn(filename);
  if (name === null) throw new ServiceError("validation_failed", "headers.upload-metadata: filename is required");
  const room = await readRoom(deps.database, deps, { accountId, freed });
  requireRoom(length, { ...room, fileBytes: room.resumableBytes });
  const now = deps.clock.now();
  return {
    id: deps.random.uuid(),
    account_id: accountId,
    key_id: principal.keyId,
    vault_id: vaultId,
    folder_id: folderId,
    file_id: old?.id ?? null,
    name,
    content_type: verifier.contentType(filetype ?? old?.content_type ?? DEFAULT_CONTENT_TYPE),
    shared_json: vault === null ? null : JSON.stringify(sentOf(metadata)),
    if_none_match: change.kind === "file" && change.ifNoneMatch ? 1 : 0,
    if_match: change.kind === "version" ? (change.ifMatch ?? null) : null,
    keep: change.kind === "version" && !change.keep ? 0 : 1,
    held: isHeld ? 1 : 0,
    held_sha256: null,
    length,
    blob_key: deps.random.uuid(),
    created_at: now,
    finished_file_id: null,
    expires_at: now + deps.settings.timing.uploadLifetime + KEPT_AFTER_EXPIRY_MS,
  };
}

function parseChange(headers: Creation["headers"], metadata: UploadMetadata): ContentChange {
  const { vaultId, folderId, fileId, filename: name, filetype } = metadata;
  const ifMatch = headers["if-match"];
  const sent = { contentType: filetype ?? null, signed: parseSignedUpload(metadata) };
  if (fileId !== undefined) return { kind: "version", fileId, ifMatch, keep: metadata.keep !== "false", ...sent };
  // RFC 9110 §13.1.1: If-Match is false when there is nothing yet that could match.
  if (ifMatch !== undefined) throw new ServiceError("precondition_failed", "If-Match needs a file: name it in fileId");
  return { kind: "file", vaultId, folderId, name, ifNoneMatch: headers["if-none-match"] !== undefined, ...sent };
}

function sentOf({ version, entry, metadata, nameIndex, restores }: UploadMetadata): SentUpload {
  return { version, entry, metadata, nameIndex, restores };
}

/** The empty partial first: a row promises that its bytes have a place. */
async function insertPlanned(
  deps: UploadDeps,
  context: CreationContext<Principal>,
  upload: UploadRow,
): Promise<Recorded<void>> {
  await deps.blobs.start(upload.blob_key, { length: upload.length });
  try {
    const begin = async (act: AccountAct): Promise<Recorded<void>> => {
      await requireTarget(act, context.principal, upload);
      const freed = await requireUnheldRoom(act, deps, upload);
      await insertUpload(act, upload);
      const expiresAt = upload.expires_at - KEPT_AFTER_EXPIRY_MS;
      const held = { of: { uploadId: upload.id }, expiresAt, bytes: upload.length, freed };
      await holdBudgets(act, deps, context.principal.budgets, held);
      return context.record(act, new Reply<void>(undefined, { headers: creationHeaders(upload) }));
    };
    return await actAs(deps, context.principal, begin, { accountId: upload.account_id });
  } catch (error) {
    // Should the row exist all the same, the sender has no address of it: without its partial it answers 410.
    await deps.blobs.discard(upload.blob_key).catch(ignore);
    throw error;
  }
}

/** Where the upload goes may have been deleted since it was planned. Throws `not_found` and the like. */
async function requireTarget(act: AccountAct, principal: Principal, upload: UploadRow): Promise<void> {
  const { vault_id: vaultId, folder_id: folderId, file_id: fileId } = upload;
  if (fileId === null) await findPlace(act, principal, { vaultId, folderId });
  else await readFileFor(act, principal, fileId);
  await requireGeneration(act, principal, upload);
}

/**
 * An act that ended a vault's uploads after this one was verified would not end it. So this throws `not_found` when the caller's record
 * has ended. It throws `generation_moved` when the generation has, as with a vault that went to another account.
 */
async function requireGeneration(act: AccountAct, principal: Principal, upload: UploadRow): Promise<void> {
  const signed = readSigned(upload);
  if (signed === null) return;
  const vault = await readVaultFor(act, principal, upload.vault_id);
  if (vault.account_id !== upload.account_id || (vault.chain_generation ?? 0) > signed.version.generation)
    throw new ServiceError("generation_moved");
}

/**
 * An upload holds its whole length of the account's storage until it ends. Its bytes are on the disk without counting
 * as usage, so many uploads begun together could keep any amount there (docs/decisions/0027-bytes-in-flight.md).
 * Resolves with the bytes that the finished upload gives back.
 */
async function requireUnheldRoom(act: AccountAct, deps: UploadDeps, upload: UploadRow): Promise<number> {
  const { account_id: accountId, file_id: fileId, length, keep } = upload;
  act.requireAccount(accountId);
  const freed =
    fileId === null || keep === 1 ? 0 : ((await findItem(act, "file", { id: fileId, accountId }))?.size ?? 0);
  const free = await readFreeStorage(act, deps, freed);
  if (length > Math.max(0, free)) throw new ServiceError("storage_quota");
  return freed;
}

/** The partial has no row, so the sweep removes what could not be discarded here. */
function ignore(): void {}

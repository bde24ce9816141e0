/** Beginning a resumable upload, perhaps with its first bytes. */
import type { api, HandlerInput } from "@coffer/contract";
import { ServiceError } from "../../../../service-error.ts";
import { type CreationContext, type IncomingBytes, type Principal, type Recorded, Reply } from "../../../../handler.ts";
import type { UploadRow } from "../../../../ports/tables.ts";
import { type AccountAct, actAs } from "../../../account/act.ts";
import { holdBudgets } from "../../../budgets/spending.ts";
import { requireRoom } from "../receive.ts";
import { DEFAULT_CONTENT_TYPE } from "../../rules.ts";
import { parseSignedUpload, refuseSigned } from "../signed-upload.ts";
import { findItem } from "../../../reach/store.ts";
import { readReplaceable, readRoom, requireMayKeepNothing, type StoringDeps } from "../commit.ts";
import { readFreeStorage } from "../../../holds/free-storage.ts";
import { refuseTakenName } from "../../../items/names.ts";
import { findPlace } from "../../../items/placing.ts";
import { readFileFor } from "../../../reach/items.ts";
import { advance } from "./append.ts";
import { parseChecksum } from "./checksum.ts";
import { withUpload, type WritingDeps } from "./lease.ts";
import { parseMetadata, type UploadMetadata } from "./metadata.ts";
import { planSharedFile, planSharedVersion, requireStanding } from "./shared.ts";
import { creationHeaders, locationOf, uploadHeaders } from "./rules.ts";
import { KEPT_AFTER_EXPIRY_MS } from "../../../holds/rules.ts";
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
  const recorded = await beginUpload(deps, context, upload);
  // Bytes that come along have a media type (tus 1.0.0, "Creation With Upload").
  const bringsBytes = body.contentType !== null && body.length !== 0;
  if (!bringsBytes && upload.length > 0) {
    return recorded.withHeaders(uploadHeaders(upload, { offset: 0, fileId: null }));
  }
  const part = { offset: 0, body: bringsBytes ? body : null, checksum };
  const begun = { id: upload.id, find: () => Promise.resolve(upload) };
  try {
    const progress = await withUpload(deps, begun, (found, lease) =>
      advance(deps, context, { upload: found, lease }, part),
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
  deps: StoringDeps,
  principal: Principal,
  headers: Creation["headers"],
  metadata: UploadMetadata,
): Promise<UploadRow> {
  const target =
    metadata.fileId === undefined
      ? await planFile(deps, principal, headers, metadata)
      : await planVersion(deps, principal, headers, { ...metadata, fileId: metadata.fileId });
  const { freed, account_id, ...columns } = target;
  const length = headers["upload-length"];
  const room = await readRoom(deps.database, deps, account_id, freed);
  requireRoom(length, { ...room, fileBytes: room.resumableBytes });
  const now = deps.clock.now();
  return {
    id: deps.random.uuid(),
    account_id,
    key_id: principal.keyId,
    ...columns,
    length,
    blob_key: deps.random.uuid(),
    created_at: now,
    finished_file_id: null,
    expires_at: now + deps.settings.timing.uploadLifetime + KEPT_AFTER_EXPIRY_MS,
  };
}

type Target = Pick<
  UploadRow,
  | "account_id"
  | "vault_id"
  | "folder_id"
  | "file_id"
  | "name"
  | "content_type"
  | "if_none_match"
  | "if_match"
  | "shared_json"
  | "keep"
> & {
  /** Bytes that the finished upload gives back. */
  readonly freed: number;
};

async function planFile(
  deps: StoringDeps,
  principal: Principal,
  headers: Creation["headers"],
  metadata: UploadMetadata,
): Promise<Target> {
  // RFC 9110 §13.1.1: If-Match is false when there is nothing yet that could match.
  if (headers["if-match"] !== undefined)
    throw new ServiceError("precondition_failed", "If-Match needs a file: name it in fileId");
  const place = await findPlace(deps.database, principal, { vaultId: metadata.vaultId, folderId: metadata.folderId });
  const { accountId, vaultId, folderId, vault } = place;
  const ifNoneMatch = headers["if-none-match"] !== undefined;
  const named =
    vault === null
      ? planPublic(metadata)
      : await planSharedFile(deps, principal, {
          place: { ...place, vault },
          length: headers["upload-length"],
          metadata,
        });
  await refuseTakenName(deps.database, "file", { vaultId, folderId }, { name: named.name, ifNoneMatch });
  return {
    account_id: accountId,
    vault_id: vaultId,
    folder_id: folderId,
    file_id: null,
    ...named,
    if_none_match: ifNoneMatch ? 1 : 0,
    if_match: null,
    keep: 1,
    freed: 0,
  };
}

type Named = Pick<UploadRow, "name" | "content_type" | "shared_json">;

function planPublic(metadata: UploadMetadata): Named {
  refuseSigned(parseSignedUpload(metadata));
  if (metadata.filename === undefined)
    throw new ServiceError("validation_failed", "headers.upload-metadata: filename is required");
  return { name: metadata.filename, content_type: metadata.filetype ?? DEFAULT_CONTENT_TYPE, shared_json: null };
}

async function planVersion(
  deps: StoringDeps,
  principal: Principal,
  headers: Creation["headers"],
  metadata: UploadMetadata & { readonly fileId: string },
): Promise<Target> {
  const { fileId, filetype } = metadata;
  const ifMatch = headers["if-match"];
  const keep = metadata.keep !== "false";
  requireMayKeepNothing(principal, { keep });
  const seen = await readReplaceable(deps.database, principal, { fileId, ifMatch });
  const { row: file, vault } = seen;
  if (headers["if-none-match"] !== undefined)
    throw new ServiceError("precondition_failed", "The file exists: If-None-Match refuses it");
  if (!keep && vault !== null)
    throw new ServiceError(
      "validation_failed",
      "headers.upload-metadata: a shared vault always keeps what is replaced",
    );
  const place = { account_id: file.account_id, vault_id: file.vault_id, folder_id: file.folder_id, file_id: fileId };
  const conditions = {
    if_none_match: 0,
    if_match: ifMatch ?? null,
    keep: keep ? 1 : 0,
    freed: keep ? 0 : file.size,
  };
  if (vault === null) refuseSigned(parseSignedUpload(metadata));
  const named =
    vault === null
      ? { name: file.name, content_type: filetype ?? file.content_type, shared_json: null }
      : await planSharedVersion(deps, principal, {
          seen: { ...seen, vault },
          length: headers["upload-length"],
          metadata,
        });
  return { ...place, ...named, ...conditions };
}

/** The empty partial first: a row promises that its bytes have a place. */
async function beginUpload(
  deps: StoringDeps,
  context: CreationContext<Principal>,
  upload: UploadRow,
): Promise<Recorded<void>> {
  await deps.blobs.begin(upload.blob_key, { length: upload.length });
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
  if (upload.shared_json !== null) await requireStanding(act, principal, upload);
}

/**
 * An upload holds its whole length of the account's storage until it ends. Its bytes are on the disk without counting
 * as usage, so many uploads begun together could keep any amount there (docs/decisions/0027-bytes-in-flight.md).
 * Resolves with the bytes that the finished upload gives back.
 */
async function requireUnheldRoom(act: AccountAct, deps: StoringDeps, upload: UploadRow): Promise<number> {
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

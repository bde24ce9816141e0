/**
 * Resumable uploads to shared vaults: the statements come first. The bytes are compared with them as they come, and
 * once more at the end.
 */
import type { Principal, RequestContext } from "../../../../handler.ts";
import { ServiceError } from "../../../../service-error.ts";
import type { FileRow, UploadRow } from "../../../../ports/tables.ts";
import type { AccountAct } from "../../../account/act.ts";
import { requireSignedSize, requireStoredVersion } from "../encrypted-start.ts";
import { DEFAULT_CONTENT_TYPE, sharedOf } from "../../rules.ts";
import { mergeShared, parseSignedUpload, type SentUpload, type SignedUpload } from "../signed-upload.ts";
import { addSharedFile, addSharedVersion, contentTypeIn, findMade, requireSameFile } from "../shared.ts";
import { readReplaceable, type StoredContent, type StoringDeps } from "../commit.ts";
import { requireEarly } from "../single-shared.ts";
import { nameColumn } from "../../../folder-names/entries.ts";
import type { Permits } from "../../../reach/permits.ts";
import { refuseTakenName } from "../../../items/names.ts";
import { findPlace, type FoundPlace } from "../../../items/placing.ts";
import { readFileFor, type SeenFile } from "../../../reach/items.ts";
import { readVaultFor, requireWriter, type SeenVault } from "../../../reach/access.ts";
import { watchMembership } from "../../../reach/watching.ts";
import type { UploadMetadata } from "./metadata.ts";
import { sentWith } from "./rules.ts";

type Named = Pick<UploadRow, "name" | "content_type" | "shared_json">;

/** Throws what a file of these statements would be refused with. */
export async function planSharedFile(
  deps: StoringDeps,
  principal: Principal,
  {
    place,
    length,
    metadata,
  }: { place: FoundPlace & { readonly vault: SeenVault }; length: number; metadata: UploadMetadata },
): Promise<Named> {
  const { vault } = place;
  const signed = requireSent(vault, metadata);
  const name = nameColumn(vault, mergeShared(signed, null), { name: metadata.filename });
  await requireEarly(deps, principal, vault, { signed, wanted: { folderId: place.folderId, old: null } });
  if ((await findMade(deps.database, principal, signed)) !== null)
    throw new ServiceError("statement_invalid", "version: the file of this statement is there");
  requireSignedSize(length, signed.version);
  const content_type = contentTypeIn(vault, metadata.filetype ?? DEFAULT_CONTENT_TYPE);
  return { name, content_type, shared_json: JSON.stringify(sentOf(metadata)) };
}

/** The same for a new version of a file. */
export async function planSharedVersion(
  deps: StoringDeps,
  principal: Principal,
  {
    seen: { row, vault },
    length,
    metadata,
  }: { seen: SeenFile & { readonly vault: SeenVault }; length: number; metadata: UploadMetadata },
): Promise<Named> {
  const signed = requireSent(vault, metadata);
  requireSameFile(row, signed);
  const wanted = { folderId: row.folder_id, old: sharedOf(row) };
  await requireEarly(deps, principal, vault, { signed, wanted, isTrashed: row.trashed_at !== null });
  requireSignedSize(length, signed.version);
  const content_type = contentTypeIn(vault, metadata.filetype ?? row.content_type);
  return { name: row.name, content_type, shared_json: JSON.stringify(sentOf(metadata)) };
}

function requireSent(vault: SeenVault, metadata: UploadMetadata): SignedUpload {
  const signed = parseSignedUpload(metadata);
  if (signed === null)
    throw new ServiceError("not_encrypted", "A shared vault takes encrypted files with their signed statements");
  if (vault.plain_names !== 1 && metadata.filetype !== undefined)
    throw new ServiceError("validation_failed", "headers.upload-metadata: filetype: this vault's names are encrypted");
  return signed;
}

function sentOf({ version, entry, metadata, nameIndex, restores }: UploadMetadata): SentUpload {
  return { version, entry, metadata, nameIndex, restores };
}

/** The statements that came with the upload; null in a public vault. */
export function readSigned(upload: Pick<UploadRow, "shared_json">): SignedUpload | null {
  const sent = sentWith(upload);
  return sent === null ? null : parseSignedUpload(sent);
}

function requireStatements(upload: UploadRow): SignedUpload {
  const signed = readSigned(upload);
  if (signed === null) throw new Error(`upload ${upload.id} goes to a shared vault without statements`);
  return signed;
}

/** Accepts bytes for it: checks the membership now and as long as they come, and so the generation. */
export async function requireContinuable(
  deps: StoringDeps,
  context: RequestContext<Principal>,
  upload: UploadRow,
): Promise<void> {
  const vault = await readVaultFor(deps.database, context.principal, upload.vault_id, "Upload");
  const { version } = requireStatements(upload);
  const { member } = await requireWriter(deps, context.principal, vault, { place: version });
  if (member.address !== version.signer)
    throw new ServiceError("statement_invalid", "version: the caller did not sign it");
  watchMembership(deps, context, vault);
}

/**
 * An act that ended a vault's uploads after the check of this one would not end it. So this throws `not_found` when
 * the caller's record has ended. It throws `generation_moved` when the generation has, as with a vault that went to
 * another account.
 */
export async function requireStanding(act: AccountAct, principal: Principal, upload: UploadRow): Promise<void> {
  const vault = await readVaultFor(act, principal, upload.vault_id);
  const { generation } = requireStatements(upload).version;
  if (vault.account_id !== upload.account_id || (vault.chain_generation ?? 0) > generation)
    throw new ServiceError("generation_moved");
}

/** What the transaction would refuse. Resolves with the bytes that the account's room must not hold again. */
export async function refuseSharedEarly(deps: StoringDeps, principal: Principal, upload: UploadRow): Promise<number> {
  const { database } = deps;
  const signed = requireStatements(upload);
  if (upload.file_id !== null) {
    const seen = await readFileFor(database, principal, upload.file_id);
    if (sharedOf(seen.row)?.version === signed.text) return upload.length;
    const { row, vault } = await readReplaceable(database, principal, versionOf(upload, upload.file_id));
    const wanted = { folderId: row.folder_id, old: sharedOf(row) };
    const isTrashed = row.trashed_at !== null;
    if (vault !== null) await requireEarly(deps, principal, vault, { signed, wanted, isTrashed });
    return 0;
  }
  if ((await findMade(database, principal, signed)) !== null) return upload.length;
  const place = { vaultId: upload.vault_id, folderId: upload.folder_id };
  const { vault } = await findPlace(database, principal, place);
  if (vault !== null)
    await requireEarly(deps, principal, vault, { signed, wanted: { folderId: place.folderId, old: null } });
  await refuseTakenName(database, "file", place, { name: upload.name, ifNoneMatch: upload.if_none_match === 1 });
  return 0;
}

/** Throws `statement_invalid` unless the stored bytes begin as signed; nothing is asked in a public vault. */
export async function requireSignedBytes({ blobs }: StoringDeps, upload: UploadRow): Promise<void> {
  const signed = readSigned(upload);
  if (signed === null) return;
  await requireStoredVersion(blobs, upload.blob_key, { size: upload.length, signed: signed.version });
}

export function addSharedUpload(
  act: AccountAct,
  deps: StoringDeps,
  principal: Principal,
  { upload, content, permits }: { upload: UploadRow; content: StoredContent; permits: Permits },
): Promise<FileRow> {
  const signed = requireStatements(upload);
  if (upload.file_id !== null) {
    const version = versionOf(upload, upload.file_id);
    return addSharedVersion(act, deps, principal, { version, signed, content, permits });
  }
  const place = { vaultId: upload.vault_id, folderId: upload.folder_id };
  // An index is not a name: then there is no plain name.
  const name = sentWith(upload)?.nameIndex === upload.name ? undefined : upload.name;
  const file = { ...place, signed, name, contentType: upload.content_type, ifNoneMatch: upload.if_none_match === 1 };
  return addSharedFile(act, deps, principal, { file, content, permits });
}

function versionOf(upload: UploadRow, fileId: string) {
  return { fileId, contentType: upload.content_type, ifMatch: upload.if_match ?? undefined };
}

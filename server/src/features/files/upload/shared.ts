/** Signed content becomes a shared vault's file or a file's new version, in one transaction, as the signed statements say. */
import type { SharedFile } from "@coffer/contract";
import type { Principal } from "../../../handler.ts";
import type { Queries } from "../../../ports/database.ts";
import type { FileRow } from "../../../ports/tables.ts";
import { ServiceError } from "../../../service-error.ts";
import type { AccountAct } from "../../account/act.ts";
import { fileTarget, noteChange } from "../../acting.ts";
import { budgetIdOf } from "../../budgets/rules.ts";
import { spendBudgets } from "../../budgets/spending.ts";
import { nameColumn, requireFolderKey } from "../../folder-names/entries.ts";
import type { Permits } from "../../reach/permits.ts";
import { requireWritten } from "../../items/changing.ts";
import { findMadeItem } from "../../items/made.ts";
import { nameOrConflict, refuseTakenName } from "../../items/names.ts";
import { renderAuthor } from "../../items/authors.ts";
import { changeEntry, NEW_ENTRY } from "../../items/entries.ts";
import { readKeptUntil } from "../../items/keeping.ts";
import { updateItem } from "../../items/store.ts";
import { claimContent } from "../../quarantine/store.ts";
import { findPlace, type FoundPlace, type WantedPlace } from "../../items/placing.ts";
import { type SeenFile, readFileFor } from "../../reach/items.ts";
import { requireSight, type SeenVault } from "../../reach/access.ts";
import { isKeptVersion, keepVersion } from "../kept-versions-store.ts";
import { DEFAULT_CONTENT_TYPE, sharedOf } from "../rules.ts";
import { mergeShared, requireFittingUpload, type SignedUpload } from "./signed-upload.ts";
import { BLOB_GRACE_MS, insertFile, queueBlobDeletion } from "../store.ts";
import { readReplaceable, type NewVersion, type StoredContent, type StoringDeps } from "./commit.ts";

export interface NewSharedFile extends WantedPlace {
  readonly signed: SignedUpload;
  /** In a vault with plain names, and only there. */
  readonly name: string | undefined;
  readonly contentType: string;
  readonly ifNoneMatch: boolean;
}

/**
 * Throws what {@link findPlace} throws, `name_exists` or `precondition_failed`, `storage_quota`, and what the statements and the folder's
 * key are refused with. The same upload again answers the file that it made.
 */
export async function addSharedFile(
  act: AccountAct,
  deps: StoringDeps,
  principal: Principal,
  { file, content, permits }: { file: NewSharedFile; content: StoredContent; permits: Permits },
): Promise<FileRow> {
  const { signed } = file;
  const place = await findPlace(act, principal, file);
  const vault = requireSharedPlace(place);
  const made = await findMade(act, principal, signed);
  if (made !== null) return giveUp(act, deps, made, content);
  const writer = permits.write(vault, signed.version);
  await requireFittingUpload(act, vault, writer, { signed, wanted: { folderId: place.folderId, old: null } });
  const author = await renderAuthor(act, principal, vault.account_id);
  const stored = { file, content, folderId: place.folderId, author };
  const row = { ...newRow(deps.clock.now(), vault, stored), budget_id: budgetIdOf(principal) };
  await requireFreshName(act, vault, row, file);
  act.requireAccount(row.account_id);
  act.charge(deps, { bytes: content.size, files: 1 });
  await spendBudgets(act, deps, principal.budgets, { bytes: content.size, files: 1 });
  await nameOrConflict(insertFile(act, row), file.ifNoneMatch);
  await noteChange(act, principal, "file.uploaded", fileTarget(row));
  return row;
}

/** Throws `validation_failed` where statements came for a public vault. */
export function requireSharedPlace({ vault }: Pick<FoundPlace, "vault">): SeenVault {
  if (vault === null) throw new ServiceError("validation_failed", "A public vault takes no signed statements");
  return vault;
}

/** The file that this very upload made. Throws what {@link findMadeItem} throws. */
export async function findMade(queries: Queries, principal: Principal, signed: SignedUpload): Promise<FileRow | null> {
  const isSame = (row: FileRow) => sharedOf(row)?.version === signed.text;
  return (await findMadeItem(queries, principal, "file", { id: signed.version.fileId, isSame }))?.row ?? null;
}

function newRow(
  now: number,
  vault: SeenVault,
  {
    file,
    content,
    folderId,
    author,
  }: { file: NewSharedFile; content: StoredContent; folderId: string | null; author: string },
): Omit<FileRow, "budget_id"> {
  const { version } = file.signed;
  const shared = mergeShared(file.signed, null);
  return {
    id: version.fileId,
    account_id: vault.account_id,
    vault_id: vault.id,
    folder_id: folderId,
    version_id: version.versionId,
    blob_key: content.blobKey,
    size: content.size,
    sha256: content.sha256,
    name: nameColumn(vault, shared, { name: file.name }),
    content_type: contentTypeIn(vault, file.contentType),
    encrypted: 1,
    shared_json: JSON.stringify(shared),
    trashed_at: null,
    trashed_with: null,
    created_at: now,
    updated_at: now,
    revision: 1,
    version_number: 1,
    version_at: now,
    version_how: "upload",
    version_author: author,
    created_by: author,
    updated_by: null,
    ...NEW_ENTRY,
  };
}

/** Where names are encrypted the content type is too. */
export function contentTypeIn(vault: SeenVault, contentType: string): string {
  return vault.plain_names === 1 ? contentType : DEFAULT_CONTENT_TYPE;
}

async function requireFreshName(
  act: AccountAct,
  vault: SeenVault,
  row: FileRow,
  { signed, ifNoneMatch }: NewSharedFile,
): Promise<void> {
  if (signed.entry !== null) await requireFolderKey(act, vault, signed.entry.statement);
  const place = { vaultId: row.vault_id, folderId: row.folder_id };
  await refuseTakenName(act, "file", place, { name: row.name, ifNoneMatch });
}

/**
 * Throws what {@link readReplaceable} throws, `storage_quota`, `name_exists`, and what the statements are refused with. The old version
 * is kept. The same upload again answers the file as it is.
 */
export async function addSharedVersion(
  act: AccountAct,
  deps: StoringDeps,
  principal: Principal,
  parts: { version: NewVersion; signed: SignedUpload; content: StoredContent; permits: Permits },
): Promise<FileRow> {
  const { version, signed, content, permits } = parts;
  const current = await readFileFor(act, principal, version.fileId);
  const vault = requireSharedPlace(current);
  if (isMade(current, signed)) return giveUp(act, deps, current.row, content);
  const writer = permits.write(vault, signed.version);
  const { row: old } = await readReplaceable(act, principal, version);
  requireSameFile(old, signed);
  const wanted = { folderId: old.folder_id, old: requireShared(old) };
  await requireFittingUpload(act, vault, writer, { signed, wanted });
  await requireNewVersionId(act, old, signed);
  const author = await renderAuthor(act, principal, old.account_id);
  const replacing = replacement(deps.clock.now(), vault, old, { ...parts, author });
  const { name, updated_at: now } = replacing;
  const how = name === old.name ? "content" : "rename";
  // The entry that gave the name is kept, so that its signature shows who did. What new content brings after that is not.
  const keepsEntry = how === "content" && (signed.entry === null || old.entry_how === how);
  const entry = keepsEntry ? {} : await changeEntry(act, deps, old, { how, now, author });
  const changes = { ...replacing, ...entry, updated_by: author, budget_id: budgetIdOf(principal) };
  const row = { ...old, ...changes };
  if (signed.entry !== null) await requireNameStays(act, vault, { old, row, signed });
  act.requireAccount(old.account_id);
  act.charge(deps, { bytes: row.size, files: 0 });
  await spendBudgets(act, deps, principal.budgets, { bytes: row.size, files: 1 });
  const expiresAt = await readKeptUntil(act, deps, old.vault_id, now);
  await keepVersion(act, old, { now, expiresAt, authorKey: signed.version.signer });
  await claimContent(act, content.blobKey);
  requireWritten(await nameOrConflict(updateItem(act, "file", old, changes)));
  await noteChange(act, principal, "file.updated", fileTarget(row));
  return row;
}

/** Whether the file's current version is what is sent again. */
function isMade({ row }: SeenFile, signed: SignedUpload): boolean {
  return sharedOf(row)?.version === signed.text;
}

/** The file, if its current version is the one that is sent again. Throws `not_found`, and what {@link requireSight} does. */
export async function findMadeVersion(
  deps: Pick<StoringDeps, "database" | "chain" | "clock">,
  principal: Principal,
  fileId: string,
  signed: SignedUpload,
): Promise<FileRow | null> {
  const seen = await readFileFor(deps.database, principal, fileId);
  if (!isMade(seen, signed)) return null;
  await requireSight(deps, principal, seen.vault);
  return seen.row;
}

export function requireSameFile(old: FileRow, signed: SignedUpload): void {
  if (signed.version.fileId !== old.id)
    throw new ServiceError("statement_invalid", "version: it is about another file");
}

function requireShared(row: FileRow): SharedFile {
  const shared = sharedOf(row);
  if (shared === null) throw new Error(`file ${row.id} lies in a shared vault without statements`);
  return shared;
}

/** An id of a version that readers may still ask for must go on meaning that one. */
async function requireNewVersionId(act: AccountAct, old: FileRow, { version }: SignedUpload): Promise<void> {
  const { versionId } = version;
  if (versionId === old.version_id || (await isKeptVersion(act, { fileId: old.id, versionId })))
    throw new ServiceError("statement_invalid", "version: the version id was used before");
}

function replacement(
  now: number,
  vault: SeenVault,
  old: FileRow,
  {
    version,
    signed,
    content,
    author,
  }: { version: NewVersion; signed: SignedUpload; content: StoredContent; author: string },
): Partial<FileRow> & Pick<FileRow, "size" | "name" | "updated_at"> {
  const shared = mergeShared(signed, requireShared(old));
  const name = signed.entry === null ? old.name : nameColumn(vault, shared, { name: undefined, old: old.name });
  return {
    version_id: signed.version.versionId,
    blob_key: content.blobKey,
    size: content.size,
    sha256: content.sha256,
    name,
    content_type: contentTypeIn(vault, version.contentType ?? old.content_type),
    shared_json: JSON.stringify(shared),
    updated_at: now,
    version_number: old.version_number + 1,
    version_at: now,
    version_how: signed.restores === null ? "replace" : "restore",
    version_author: author,
    // A new version may bring a new name along.
    revision: name === old.name ? old.revision : old.revision + 1,
  };
}

/** In the trash a name takes no place, so there any current key will do: it is asked about when the file comes back. */
async function requireNameStays(
  act: AccountAct,
  vault: SeenVault,
  { old, row, signed }: { old: FileRow; row: FileRow; signed: SignedUpload },
): Promise<void> {
  if (signed.entry === null || row.trashed_at !== null) return;
  await requireFolderKey(act, vault, signed.entry.statement);
  if (row.name === old.name) return;
  const place = { vaultId: row.vault_id, folderId: row.folder_id };
  await refuseTakenName(act, "file", place, row);
}

/** The bytes that came again are not needed. */
async function giveUp(act: AccountAct, deps: StoringDeps, row: FileRow, content: StoredContent): Promise<FileRow> {
  if (row.blob_key !== content.blobKey)
    await queueBlobDeletion(
      act,
      { ...row, blob_key: content.blobKey },
      { notBefore: deps.clock.now() + BLOB_GRACE_MS, reason: "upload" },
    );
  return row;
}

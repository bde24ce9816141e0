/**
 * Contents that lie in the blob store become files and versions, in one act of the account that owns the vault. The act finds place,
 * member and kind of vault again by the rows of its own transaction: what was verified before the bytes came may have changed.
 */
import type { Principal } from "../../../handler.ts";
import type { FileRow } from "../../../ports/tables.ts";
import { ServiceError } from "../../../service-error.ts";
import { actAs } from "../../account/act.ts";
import { fileTarget, recordChange } from "../../acting.ts";
import { budgetIdOf } from "../../budgets/rules.ts";
import { spendBudgets } from "../../budgets/spending.ts";
import { renderAuthor } from "../../items/authors.ts";
import type { Changing } from "../../items/changing.ts";
import { NEW_ENTRY } from "../../items/entries.ts";
import { nameOrConflict, refuseTakenName } from "../../items/names.ts";
import { findPlace } from "../../items/placing.ts";
import { claimContent } from "../../quarantine/store.ts";
import { readFileFor, type SeenFile } from "../../reach/items.ts";
import { type ExpectedWrite, withPermits } from "../../reach/permits.ts";
import { releaseContent } from "../kept-versions-store.ts";
import { BLOB_GRACE_MS, insertFile, queueBlobDeletion } from "../store.ts";
import { type NextVersion, requireReplaceable, writeVersion } from "../version-writer.ts";
import type { StoredContent } from "./receive.ts";
import { isMade } from "./shared.ts";
import type { ContentChange, NewFile, NewVersion, UploadDeps } from "./verifier.ts";
import { verifierFor } from "./verify.ts";

/** A change whose content is durable. */
export interface PreparedChange<Change extends ContentChange = ContentChange> {
  readonly change: Change;
  readonly content: StoredContent;
}

/**
 * Runs `work` as one act of the account, with the permits that it asks for. It makes its changes with {@link applyChanges} or
 * {@link addEachFile}, and ends with the answer that a repeat gets.
 */
export function commit<Result>(
  deps: UploadDeps,
  principal: Principal,
  { accountId, write }: { readonly accountId: string; readonly write: ExpectedWrite | null },
  work: (changing: Changing) => Promise<Result>,
): Promise<Result> {
  return withPermits(
    deps,
    principal,
    (permits) => actAs(deps, principal, (act) => work({ act, deps, principal, permits }), { accountId }),
    write,
  );
}

/** All changes, or none: what one of them is refused with ends the act. The files, in the order of the changes. */
export async function applyChanges(changing: Changing, prepared: readonly PreparedChange[]): Promise<FileRow[]> {
  const rows: FileRow[] = [];
  for (const one of prepared) rows.push(await applyChange(changing, one));
  return rows;
}

/**
 * Each new file by itself: a refusal is its result, and leaves nothing of it in the act. Any other error ends the act. A file is refused
 * before it has a row, so that what it has counted is all that has to be taken back; a savepoint would be two more statements for each.
 */
export async function addEachFile(
  changing: Changing,
  prepared: readonly (PreparedChange<NewFile> | ServiceError)[],
): Promise<(FileRow | ServiceError)[]> {
  const { act } = changing;
  const results: (FileRow | ServiceError)[] = [];
  for (const one of prepared) {
    const { usage_bytes, usage_files } = act.account;
    try {
      results.push(one instanceof ServiceError ? one : await addFile(changing, one.change, one.content));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      act.change({ usage_bytes, usage_files });
      results.push(error);
    }
  }
  return results;
}

function applyChange(changing: Changing, { change, content }: PreparedChange): Promise<FileRow> {
  return change.kind === "file" ? addFile(changing, change, content) : addVersion(changing, change, content);
}

/**
 * The same upload again answers the file that it made.
 * @throws ServiceError what {@link findPlace}, {@link verifierFor}, the verifier and {@link spendBudgets} throw, `name_exists` or
 * `precondition_failed`, and `storage_quota`.
 */
async function addFile(changing: Changing, file: NewFile, content: StoredContent): Promise<FileRow> {
  const { act, deps, principal } = changing;
  const { accountId, vaultId, folderId, vault } = await findPlace(act, principal, file);
  const verifier = verifierFor(vault, file);
  const made = await verifier.findMadeFile(act, principal);
  if (made !== null) return giveUp(changing, made, content);
  act.requireAccount(accountId);
  const columns = await verifier.fileColumns(changing, file, folderId);
  const { ifNoneMatch } = file;
  await refuseTakenName(act, "file", { vaultId, folderId }, { name: columns.name, ifNoneMatch });
  act.charge(deps, { bytes: content.size, files: 1 });
  await spendBudgets(act, deps, principal.budgets, { bytes: content.size, files: 1 });
  const now = deps.clock.now();
  const author = await renderAuthor(act, principal, accountId);
  const row: FileRow = {
    ...columns,
    account_id: accountId,
    vault_id: vaultId,
    folder_id: folderId,
    blob_key: content.blobKey,
    size: content.size,
    sha256: content.sha256,
    created_at: now,
    updated_at: now,
    trashed_at: null,
    trashed_with: null,
    revision: 1,
    version_number: 1,
    version_at: now,
    version_how: "upload",
    version_author: author,
    created_by: author,
    updated_by: null,
    ...NEW_ENTRY,
    budget_id: budgetIdOf(principal),
  };
  await nameOrConflict(insertFile(act, row), ifNoneMatch);
  await recordChange(act, principal, "file.uploaded", fileTarget(row));
  return row;
}

/**
 * The same upload again answers the file as it is.
 * @throws ServiceError `not_found`, what {@link requireReplaceable}, {@link verifierFor}, the verifier and {@link spendBudgets} throw,
 * `name_exists`, and `storage_quota`.
 */
async function addVersion(changing: Changing, version: NewVersion, content: StoredContent): Promise<FileRow> {
  const { act, principal } = changing;
  const seen = await readFileFor(act, principal, version.fileId);
  if (version.signed !== null && isMade(seen.row, version.signed)) return giveUp(changing, seen.row, content);
  requireReplaceable(seen, version.ifMatch);
  act.requireAccount(seen.row.account_id);
  return writePlannedVersion(changing, await planVersion(changing, seen, version, content));
}

/** A version that may be written, as far as its file by itself decides it. Whether its name is free, {@link writePlannedVersion} says. */
export interface PlannedVersion {
  readonly old: FileRow;
  readonly content: StoredContent;
  readonly next: NextVersion & { readonly columns: Pick<FileRow, "name" | "folder_id"> };
}

/**
 * Writes nothing of the file.
 * @throws ServiceError what {@link verifierFor} and the verifier throw, and what {@link findPlace} refuses the new place with.
 */
export async function planVersion(
  changing: Changing,
  { row: old, vault }: SeenFile,
  version: NewVersion,
  content: StoredContent,
): Promise<PlannedVersion> {
  const { act, principal } = changing;
  const { folderId = old.folder_id, keep } = version;
  if (folderId !== old.folder_id) await findPlace(act, principal, { vaultId: old.vault_id, folderId });
  const { columns, ...next } = await verifierFor(vault, version).versionColumns(changing, version, { old, folderId });
  const { blobKey, size, sha256 } = content;
  const stored = { blob_key: blobKey, size, sha256, budget_id: budgetIdOf(principal) };
  const isPlaced = columns.name !== old.name || folderId !== old.folder_id;
  const place = { folder_id: folderId, revision: isPlaced ? old.revision + 1 : old.revision };
  return { old, content, next: { ...next, columns: { ...columns, ...stored, ...place }, keep, bytes: size } };
}

/** @throws ServiceError `name_exists`, `storage_quota`, and what {@link spendBudgets} throws. */
export async function writePlannedVersion(
  changing: Changing,
  { old, content: { blobKey, size }, next }: PlannedVersion,
): Promise<FileRow> {
  const { act, deps } = changing;
  const { name, folder_id: folderId } = next.columns;
  // In the trash a name takes no place.
  if ((name !== old.name || folderId !== old.folder_id) && old.trashed_at === null)
    await refuseTakenName(act, "file", { vaultId: old.vault_id, folderId }, { name });
  if (!next.keep) await releaseContent(act, old, deps.clock.now());
  await claimContent(act, blobKey);
  act.charge(deps, { bytes: size, files: 0 });
  return writeVersion(changing, old, next);
}

/** The bytes that came again are not needed. */
async function giveUp({ act, deps }: Changing, row: FileRow, content: StoredContent): Promise<FileRow> {
  if (row.blob_key !== content.blobKey)
    await queueBlobDeletion(
      act,
      { ...row, blob_key: content.blobKey },
      { notBefore: deps.clock.now() + BLOB_GRACE_MS, reason: "upload" },
    );
  return row;
}

/**
 * New content becomes a file or a file's new version. The bytes are durable before the row exists. The row, the usage
 * and the change are one transaction (the order that every crash must leave intact).
 */
import type { Deps } from "../../../deps.ts";
import type { Principal } from "../../../handler.ts";
import type { BlobReceipt } from "../../../ports/blob-store.ts";
import { ConstraintError, DatabaseFullError, type Queries } from "../../../ports/database.ts";
import type { FileRow } from "../../../ports/tables.ts";
import { ServiceError } from "../../../service-error.ts";
import { type AccountAct, actAs } from "../../account/act.ts";
import { limitsOf } from "../../account/rules.ts";
import { readQuota } from "../../account/store.ts";
import { noteChange, fileTarget } from "../../acting.ts";
import { budgetIdOf } from "../../budgets/rules.ts";
import { spendBudgets } from "../../budgets/spending.ts";
import type { Hold, Holds } from "../../holds/holds.ts";
import { type ExpectedWrite, type Permits, withPermits } from "../../reach/permits.ts";
import { requireWritten } from "../../items/changing.ts";
import { nameOrConflict, refuseTakenName } from "../../items/names.ts";
import { claimContent } from "../../quarantine/store.ts";
import { findPlace, type WantedPlace } from "../../items/placing.ts";
import { authorKeyOf, renderAuthor } from "../../items/authors.ts";
import { NEW_ENTRY } from "../../items/entries.ts";
import { readKeptUntil } from "../../items/keeping.ts";
import { updateItem } from "../../items/store.ts";
import { readChangeable, type SeenFile } from "../../reach/items.ts";
import { requireUnchanged } from "../../items/conditions.ts";
import { requireDigests } from "../digests.ts";
import type { Incoming, OwnedRoom } from "./receive.ts";
import { giveUpContent, keepVersion } from "../kept-versions-store.ts";
import { etagOf } from "../rules.ts";
import { insertFile } from "../store.ts";

export type StoringDeps = Pick<Deps, "database" | "blobs" | "clock" | "random" | "settings" | "chain">;

/** With what uploads in one request hold. */
export type ReceivingDeps = StoringDeps & { readonly holds: Holds };

export interface StoredContent extends BlobReceipt {
  readonly blobKey: string;
}

/**
 * Puts the bytes into the blob store, then runs `commit` in a transaction, with the permits that it asks for. If that
 * fails for certain, it deletes the blob. If it may have been committed all the same, the blob stays and the sweep
 * decides by the row.
 */
export async function storeThenCommit<Result>(
  deps: ReceivingDeps,
  incoming: Incoming,
  {
    principal,
    recheck,
    writes = null,
  }: { readonly principal: Principal; readonly recheck: () => Promise<void>; readonly writes?: ExpectedWrite | null },
  commit: (act: AccountAct, content: StoredContent, permits: Permits) => Promise<Result>,
): Promise<Result> {
  const hold = await deps.holds.take({ ...incoming.wanted, budgets: principal.budgets });
  try {
    const content = await putContent(deps, incoming, hold);
    const storing = (permits: Permits) =>
      actAs(
        deps,
        principal,
        async (act) => {
          await hold.settle(act, content.size);
          return commit(act, content, permits);
        },
        { accountId: incoming.wanted.accountId },
      );
    const result = await withContent(deps, content, async () => {
      requireDigests(incoming.digests, content.sha256);
      await recheck();
      return withPermits(deps, principal, storing, writes);
    });
    await hold.end("committed");
    return result;
  } catch (error) {
    await hold.end(rolledBack(error) ? "rolled back" : "unknown");
    throw error;
  }
}

async function putContent(deps: ReceivingDeps, { stream, wanted }: Incoming, hold: Hold): Promise<StoredContent> {
  const blobKey = deps.random.uuid();
  const options = wanted.length === null ? {} : { length: wanted.length };
  return { blobKey, ...(await deps.blobs.put(blobKey, hold.within(stream), options)) };
}

/** The blob goes when `work` fails for certain. */
async function withContent<Result>(
  deps: StoringDeps,
  { blobKey }: StoredContent,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (rolledBack(error)) await deps.blobs.delete(blobKey).catch(ignore);
    throw error;
  }
}

/** Whether the error says for certain that nothing was committed. */
export function rolledBack(error: unknown): boolean {
  return error instanceof ServiceError || error instanceof ConstraintError || error instanceof DatabaseFullError;
}

/** The blob has no row, so the hourly sweep removes what could not be deleted here. */
function ignore(): void {}

export interface NewFile extends WantedPlace {
  readonly name: string;
  readonly contentType: string;
  readonly ifNoneMatch: boolean;
}

/** Throws what {@link findPlace} and {@link spendBudgets} throw, `name_exists` or `precondition_failed`, and `storage_quota`. */
export async function addFile(
  act: AccountAct,
  deps: StoringDeps,
  principal: Principal,
  file: NewFile,
  content: StoredContent,
): Promise<FileRow> {
  const { accountId, vaultId, folderId, vault } = await findPlace(act, principal, file);
  if (vault !== null) throw new Error("a shared vault takes signed uploads alone");
  act.requireAccount(accountId);
  await refuseTakenName(act, "file", { vaultId, folderId }, file);
  act.charge(deps, { bytes: content.size, files: 1 });
  await spendBudgets(act, deps, principal.budgets, { bytes: content.size, files: 1 });
  const now = deps.clock.now();
  const author = await renderAuthor(act, principal, accountId);
  const row: FileRow = {
    id: deps.random.uuid(),
    account_id: accountId,
    vault_id: vaultId,
    folder_id: folderId,
    version_id: deps.random.uuid(),
    blob_key: content.blobKey,
    name: file.name,
    size: content.size,
    content_type: file.contentType,
    sha256: content.sha256,
    encrypted: 0,
    shared_json: null,
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
  await nameOrConflict(insertFile(act, row), file.ifNoneMatch);
  await noteChange(act, principal, "file.uploaded", fileTarget(row));
  return row;
}

export interface NewVersion {
  readonly fileId: string;
  /** null: what the file has. */
  readonly contentType: string | null;
  readonly ifMatch: string | undefined;
  /** False: the content before is given up at once. */
  readonly keep?: boolean;
}

/** Throws `owner_only`: what is given up at once cannot be restored. */
export function requireMayKeepNothing(principal: Principal, { keep = true }: Pick<NewVersion, "keep">): void {
  if (!keep && principal.accessLevel !== "owner")
    throw new ServiceError("owner_only", "Only the account owner may replace content without keeping it");
}

/** Throws `not_found`, `trashed`, `precondition_failed`, `storage_quota`, and what {@link spendBudgets} throws. */
export async function addVersion(
  act: AccountAct,
  deps: StoringDeps,
  principal: Principal,
  version: NewVersion,
  content: StoredContent,
): Promise<FileRow> {
  const { row: old, vault } = await readReplaceable(act, principal, version);
  if (vault !== null) throw new Error("a shared vault takes signed uploads alone");
  act.requireAccount(old.account_id);
  const { keep = true } = version;
  if (!keep) await giveUpContent(act, old, deps.clock.now());
  await claimContent(act, content.blobKey);
  act.charge(deps, { bytes: content.size, files: 0 });
  const changes = {
    budget_id: budgetIdOf(principal),
    blob_key: content.blobKey,
    size: content.size,
    sha256: content.sha256,
    content_type: version.contentType ?? old.content_type,
  };
  return putVersion(act, deps, principal, { old, changes, how: "replace", keep, bytes: content.size });
}

/** The file's row gets the new content, and the old one is a version of its own from now on. Its bytes count already. */
export async function putVersion(
  act: AccountAct,
  deps: Pick<Deps, "clock" | "random" | "settings">,
  principal: Principal,
  {
    old,
    changes,
    how,
    keep,
    bytes,
  }: {
    readonly old: FileRow;
    readonly changes: Pick<FileRow, "blob_key" | "size" | "sha256" | "content_type" | "budget_id">;
    readonly how: string;
    readonly keep: boolean;
    /** Those that are stored in addition. */
    readonly bytes: number;
  },
): Promise<FileRow> {
  await spendBudgets(act, deps, principal.budgets, { bytes, files: 1 });
  const now = deps.clock.now();
  const author = await renderAuthor(act, principal, old.account_id);
  const made = {
    version_id: deps.random.uuid(),
    version_number: old.version_number + 1,
    version_at: now,
    version_how: how,
    version_author: author,
    updated_at: now,
    updated_by: author,
    ...changes,
  };
  requireWritten(await updateItem(act, "file", old, made));
  if (keep) {
    const expiresAt = await readKeptUntil(act, deps, old.vault_id, now);
    await keepVersion(act, old, { now, expiresAt, authorKey: authorKeyOf(author) });
  }
  const row = { ...old, ...made };
  await noteChange(act, principal, "file.updated", fileTarget(row));
  return row;
}

/** The file of a new version: not in the trash, and with the content that If-Match names. */
export async function readReplaceable(
  queries: Queries,
  principal: Principal,
  { fileId, ifMatch }: Pick<NewVersion, "fileId" | "ifMatch">,
): Promise<SeenFile> {
  const seen = await readChangeable(queries, principal, "file", { id: fileId });
  requireUnchanged(ifMatch, seen.row, etagOf(seen.row));
  return seen;
}

/** How much may still be sent to the account's vaults; `freed` bytes are given back by the same act. */
export async function readRoom(
  queries: Queries,
  deps: Pick<Deps, "settings">,
  accountId: string,
  freed = 0,
): Promise<OwnedRoom & { resumableBytes: number }> {
  const { plan, usage_bytes } = await readQuota(queries, accountId);
  const limits = limitsOf(plan, deps.settings);
  return {
    accountId,
    freed,
    fileBytes: limits.rawUploadBytes,
    resumableBytes: limits.fileBytes,
    storageBytes: Math.max(0, limits.storageBytes - usage_bytes + freed),
  };
}

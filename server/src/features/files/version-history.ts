/** Versions of a file over HTTP: listing, deleting, and in public vaults restoring them (decisions 0050 and 0059). */
import type { api, FileVersion, HandlerInput } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { CreationContext, Principal, Recorded } from "../../handler.ts";
import type { FileRow, FileVersionRow } from "../../ports/tables.ts";
import { ServiceError } from "../../service-error.ts";
import { type AccountAct, actAs } from "../account/act.ts";
import { notFound } from "../acting.ts";
import { type ProofDeps, withOwnerProof } from "../deletion/grants.ts";
import { parsePage, toPage } from "../paging.ts";
import { requireMember, requireSight } from "../reach/access.ts";
import { actsAsOwner, readFileFor } from "../reach/items.ts";
import { toTimestamp } from "../timestamps.ts";
import { showAuthor } from "../items/authors.ts";
import type { RecordRow } from "../items/changing.ts";
import { dropVersion, findKeptVersion, isKeptVersion, listKeptVersions, takeOver } from "./kept-versions-store.ts";
import { sharedOf } from "./rules.ts";
import { readReplaceable, type VersionWriting, writeVersion } from "./version-writer.ts";

type PastDeps = Pick<Deps, "database" | "clock" | "random" | "settings" | "chain">;

/** Newest first; the current one is the first. The number has the place of the time in the cursor. */
export async function listVersions(
  deps: PastDeps,
  principal: Principal,
  { params: { fileId }, query }: HandlerInput<typeof api.files.versions, never>,
): Promise<{ versions: FileVersion[]; nextCursor: string | null }> {
  const { database, clock } = deps;
  const page = parsePage(`versions ${fileId}`, query);
  const { row, vault } = await readFileFor(database, principal, fileId);
  await requireSight(deps, principal, vault);
  // The file's row first: what is replaced after that is the current version here, and is not listed twice.
  const from = page.after?.createdAt ?? Number.MAX_SAFE_INTEGER;
  const before = Math.min(from, row.version_number);
  const kept = await listKeptVersions(database, { fileId, before, now: clock.now(), limit: page.limit + 1 });
  const found = [...(from > row.version_number ? [ofCurrent(row)] : []), ...kept];
  const { rows, nextCursor } = toPage(
    found.map((version) => ({ id: version.version_id, created_at: version.number, version })),
    page,
  );
  return { versions: rows.map(({ version }) => toVersion(version, principal, row)), nextCursor };
}

interface RestoredVersion {
  readonly fileId: string;
  readonly sourceId: string;
  readonly ifMatch: string | undefined;
}

/** Nothing changes if the file has that content already, so the caller may repeat it. */
export async function restoreVersion<Answer>(
  deps: PastDeps,
  principal: Principal,
  restored: RestoredVersion,
  record: RecordRow<"file", Answer>,
): Promise<Answer> {
  const { fileId } = restored;
  const { vault } = await readFileFor(deps.database, principal, fileId);
  if (vault !== null) {
    await requireMember(deps, principal, vault);
    throw new ServiceError(
      "validation_failed",
      "params.fileId: a shared vault's content comes back as a new signed version, with the header Coffer-Restores",
    );
  }
  return actAs(deps, principal, async (act) => record(act, await restoreWithin({ act, deps, principal }, restored)));
}

async function restoreWithin(
  changing: VersionWriting,
  { fileId, sourceId: versionId, ifMatch }: RestoredVersion,
): Promise<FileRow> {
  const { act, deps, principal } = changing;
  const { row: old } = await readReplaceable(act, principal, { fileId, ifMatch });
  act.requireAccount(old.account_id);
  if (versionId === old.version_id) return old;
  const kept = await findKeptVersion(act, { fileId, versionId, now: deps.clock.now() });
  if (kept === null) throw notFound("Version");
  if (kept.blob_key === old.blob_key) return old;
  const { blob_key, size, sha256, content_type, budget_id } = kept;
  await takeOver(act, kept);
  const columns = { blob_key, size, sha256, content_type, budget_id };
  return writeVersion(changing, old, { columns, how: "restore", entry: null, authorKey: null, keep: true, bytes: 0 });
}

/** In a shared vault its owner proves to be there. */
export async function deleteVersion(
  deps: PastDeps & ProofDeps,
  context: CreationContext<Principal>,
  {
    fileId,
    versionId,
    proof,
  }: { readonly fileId: string; readonly versionId: string; readonly proof: string | undefined },
): Promise<Recorded<void>> {
  const { principal } = context;
  return withOwnerProof(deps, context, { act: "delete-version", fileId, versionId, proof }, (grantFor) => {
    const work = async (act: AccountAct): Promise<Recorded<void>> => {
      const { row, vault } = await readFileFor(act, principal, fileId);
      if (!actsAsOwner(principal, vault)) throw new ServiceError("owner_only", "Only the owner may delete a version");
      act.requireAccount(row.account_id);
      if (versionId === row.version_id) throw new ServiceError("current_version");
      if (!(await isKeptVersion(act, { fileId, versionId }))) throw notFound("Version");
      grantFor(vault).requireFor({ vaultId: row.vault_id, isShared: vault !== null });
      await dropVersion(act, { file_id: fileId, version_id: versionId }, { now: deps.clock.now(), reason: "deleted" });
      const target = { kind: "file", id: fileId, vaultId: row.vault_id };
      await act.record({ action: "file.version_deleted", actor: principal, target });
      return context.record(act, undefined);
    };
    return actAs(deps, principal, work, { freesSpace: true });
  });
}

type VersionFacts = Pick<
  FileVersionRow,
  "version_id" | "number" | "size" | "sha256" | "content_type" | "how" | "author" | "created_at" | "shared_json"
> & { readonly expires_at: number | null };

function ofCurrent(row: FileRow): VersionFacts {
  const { version_id, size, sha256, content_type, version_number: number, version_how: how } = row;
  const { version_author: author, version_at: created_at, shared_json } = row;
  return { version_id, number, size, sha256, content_type, how, author, created_at, shared_json, expires_at: null };
}

function toVersion(version: VersionFacts, principal: Principal, file: FileRow): FileVersion {
  return {
    number: version.number,
    versionId: version.version_id,
    size: version.size,
    contentType: version.content_type,
    sha256: version.sha256,
    author: showAuthor(version.author, principal, file),
    how: version.how,
    createdAt: toTimestamp(version.created_at),
    expiresAt: version.expires_at === null ? null : toTimestamp(version.expires_at),
    shared: sharedOf(version),
  };
}

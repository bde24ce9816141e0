/**
 * Versions of files that were replaced (decision 0050). Several may have one blob, and so may the file: its bytes count once, for the file
 * while that has them, else for one version. A blob is given up with the last that has it.
 */
import type { SharedFile } from "@coffer/contract";
import { prepared, type Queries } from "../../ports/database.ts";
import type { DeletionReason } from "../../ports/quarantine-tables.ts";
import type { FileRow, FileVersionRow } from "../../ports/tables.ts";
import type { AccountAct } from "../account/act.ts";
import { releaseStored } from "../budgets/spending.ts";
import { authorKeyOf } from "../items/authors.ts";
import { DROPPED, KEPT_OF_AUTHOR } from "../items/keeping.ts";
import { endOf, withEnd } from "../items/retention-store.ts";
import { parseVersionStatement } from "../shared-vaults/statements.ts";
import { BLOB_GRACE_MS, type Giving, queueBlobDeletion, queueBlobDeletions } from "./store.ts";

const byId = prepared((build, value: { fileId: string; versionId: string; now: number }) =>
  build
    .selectFrom("file_versions")
    .selectAll()
    .select(endOf("file_versions").as("ends_at"))
    .where("file_id", "=", value.fileId)
    .where("version_id", "=", value.versionId)
    .where(endOf("file_versions"), ">", value.now),
);

/** null: there is none, or its time is over. */
export async function findKeptVersion(
  queries: Queries,
  value: { fileId: string; versionId: string; now: number },
): Promise<FileVersionRow | null> {
  const row = await queries.first(byId(queries, value));
  return row === null ? null : withEnd(row);
}

const isKept = prepared((build, value: { fileId: string; versionId: string }) =>
  build
    .selectFrom("file_versions")
    .select("version_id")
    .where("file_id", "=", value.fileId)
    .where("version_id", "=", value.versionId),
);

/** Whether the id is one of a version that the file had and that is still kept. */
export async function isKeptVersion(queries: Queries, value: { fileId: string; versionId: string }): Promise<boolean> {
  return (await queries.first(isKept(queries, value))) !== null;
}

const before = prepared((build, value: { fileId: string; before: number; now: number; limit: number }) =>
  build
    .selectFrom("file_versions")
    .selectAll()
    .select(endOf("file_versions").as("ends_at"))
    .where("file_id", "=", value.fileId)
    .where("number", "<", value.before)
    .where(endOf("file_versions"), ">", value.now)
    .orderBy("number", "desc")
    .limit(value.limit),
);

/** Newest first. */
export async function listKeptVersions(
  queries: Queries,
  value: { fileId: string; before: number; now: number; limit: number },
): Promise<FileVersionRow[]> {
  return (await queries.all(before(queries, value))).map(withEnd);
}

const oldestOf = prepared((build, value: { fileId: string; authorKey: string; kept: number }) =>
  build
    .selectFrom("file_versions")
    .select(["file_id", "version_id"])
    .where("file_id", "=", value.fileId)
    .where("author_key", "=", value.authorKey)
    .orderBy("number", "desc")
    .offset(value.kept)
    .limit(DROPPED),
);

/**
 * Keeps what the row of a file says of its content, before another takes its place. Its bytes go on counting, for the version from now on.
 * Beyond the bound the oldest versions of the new version's author go. So nobody writes another author's versions out of their days.
 * `authorKey`: of the new version, {@link versionAuthorKey}.
 */
export async function keepVersion(
  act: AccountAct,
  old: FileRow,
  { now, expiresAt, authorKey }: { readonly now: number; readonly expiresAt: number; readonly authorKey: string },
): Promise<void> {
  await act.run(
    act.build.insertInto("file_versions").values({
      vault_id: old.vault_id,
      file_id: old.id,
      version_id: old.version_id,
      number: old.version_number,
      blob_key: old.blob_key,
      size: old.size,
      charged: old.size,
      sha256: old.sha256,
      content_type: old.content_type,
      shared_json: old.shared_json,
      how: old.version_how,
      created_at: old.version_at,
      author: old.version_author,
      author_key: versionAuthorKey(old),
      replaced_at: now,
      expires_at: expiresAt,
      budget_id: old.budget_id,
    }),
  );
  act.countVersions(old.size);
  const bound = { fileId: old.id, authorKey, kept: KEPT_OF_AUTHOR - 1 };
  for (const row of await act.all(oldestOf(act, bound))) await dropVersion(act, row, { now, reason: "replaced" });
}

/** In a shared vault the address that signed, whichever credential sent it. */
function versionAuthorKey({ version_author, shared_json }: FileRow): string {
  return shared_json === null ? authorKeyOf(version_author) : signerOf(JSON.parse(shared_json) as SharedFile);
}

export function signerOf({ version }: Pick<SharedFile, "version">): string {
  return parseVersionStatement(version).signer;
}

/**
 * Called when the file or a version has let go of the blob. Another version that has it counts its bytes from now on,
 * in `usage_version_bytes`. False: no version has it.
 */
async function countForAnother(act: AccountAct, value: { fileId: string; blobKey: string }): Promise<boolean> {
  const { fileId, blobKey } = value;
  const other = await act.first(
    act.build
      .selectFrom("file_versions")
      .select(["version_id", "size"])
      .where("blob_key", "=", blobKey)
      .where("file_id", "=", fileId)
      .limit(1),
  );
  if (other === null) return false;
  const { version_id: versionId, size } = other;
  await act.run(
    act.build
      .updateTable("file_versions")
      .set({ charged: size })
      .where("file_id", "=", fileId)
      .where("version_id", "=", versionId),
  );
  act.countVersions(size);
  return true;
}

/** The content that the row of a public vault's file says is not kept: its bytes are given up, unless a version has them too. */
export async function releaseContent(act: AccountAct, old: FileRow, now: number): Promise<void> {
  if (await countForAnother(act, { fileId: old.id, blobKey: old.blob_key })) return;
  await queueBlobDeletion(act, old, { notBefore: now + BLOB_GRACE_MS, reason: "replaced" });
  act.free({ bytes: old.size, files: 0 });
  await releaseStored(act, old.budget_id, old.size);
}

/** The file takes the blob of a version of its own: its bytes count for the file from now on. */
export async function takeOver(act: AccountAct, { file_id, blob_key, size }: FileVersionRow): Promise<void> {
  const charged = await act.run(
    act.build
      .updateTable("file_versions")
      .set({ charged: 0 })
      .where("blob_key", "=", blob_key)
      .where("file_id", "=", file_id)
      .where("charged", ">", 0),
  );
  if (charged > 0) act.countVersions(-size);
}

/** Drops a version, and its bytes with the last that has them. `endedBy`: only one whose time is over then. False: it is not there. */
export async function dropVersion(
  act: AccountAct,
  { file_id: fileId, version_id: versionId }: Pick<FileVersionRow, "file_id" | "version_id">,
  { now, reason, endedBy = Number.MAX_SAFE_INTEGER }: { now: number; reason: DeletionReason; endedBy?: number },
): Promise<boolean> {
  const removal = act.build
    .deleteFrom("file_versions")
    .where("file_id", "=", fileId)
    .where("version_id", "=", versionId)
    .where(endOf("file_versions"), "<=", endedBy)
    // Of a file that is gone: nothing counts it any more.
    .where((row) => row.not(row.exists(row.selectFrom("ended_items").select("item_id").where("item_id", "=", fileId))))
    .returning(["blob_key", "size", "charged", "shared_json", "budget_id"]);
  const [row] = await act.all(removal);
  if (row === undefined) return false;
  if (row.shared_json === null && row.charged === 0 && row.size > 0) return true;
  act.countVersions(-row.charged);
  if (row.shared_json === null && (await isElsewhere(act, { fileId, blobKey: row.blob_key }))) return true;
  await queueBlobDeletion(act, { ...row, account_id: act.account.id }, { notBefore: now + BLOB_GRACE_MS, reason });
  act.free({ bytes: row.charged, files: 0 });
  await releaseStored(act, row.budget_id, row.charged);
  return true;
}

/** Whether another version, or the file, has the blob. */
async function isElsewhere(act: AccountAct, value: { fileId: string; blobKey: string }): Promise<boolean> {
  if (await countForAnother(act, value)) return true;
  const file = act.build
    .selectFrom("files")
    .select("id")
    .where("id", "=", value.fileId)
    .where("blob_key", "=", value.blobKey);
  return (await act.first(file)) !== null;
}

const countedOf = prepared((build, value: { fileId: string }) =>
  build
    .selectFrom("file_versions")
    .select(({ fn }) => ["budget_id", fn.sum<number | string>("charged").as("bytes")])
    .where("file_id", "=", value.fileId)
    .groupBy("budget_id"),
);

/** What counts for the file's versions, by the budgets that count it too. */
export async function countVersionsOf(
  queries: Queries,
  fileId: string,
): Promise<{ readonly budgetId: string | null; readonly bytes: number }[]> {
  const rows = await queries.all(countedOf(queries, { fileId }));
  return rows.map(({ budget_id: budgetId, bytes }) => ({ budgetId, bytes: Number(bytes) }));
}

const someOf = prepared((build, value: { fileId: string; most: number }) =>
  build
    .selectFrom("file_versions")
    .select(["version_id", "blob_key", "size", "charged"])
    .where("file_id", "=", value.fileId)
    .limit(value.most),
);

export async function hasVersions(queries: Queries, fileId: string): Promise<boolean> {
  return (await queries.all(someOf(queries, { fileId, most: 1 }))).length > 0;
}

/** For a file that is gone, and whose versions nothing counts any more: at most so many go. Returns how many bytes were counted for them. */
export async function removeSomeVersions(
  act: AccountAct,
  { fileId, most, ...giving }: Giving & { readonly fileId: string; readonly most: number },
): Promise<number> {
  const rows = await act.all(someOf(act, { fileId, most }));
  if (rows.length === 0) return 0;
  const { id: account_id } = act.account;
  await queueBlobDeletions(
    act,
    rows.map(({ blob_key, size }) => ({ blob_key, size, account_id })),
    giving,
  );
  const ids = rows.map((row) => row.version_id);
  await act.run(act.build.deleteFrom("file_versions").where("file_id", "=", fileId).where("version_id", "in", ids));
  return rows.reduce((sum, { charged }) => sum + charged, 0);
}

/** Deletes for good what has been in the trash for 30 days (decisions §5). */
import { TRASH_DAYS } from "@coffer/contract";
import { changeUsage } from "../features/account/store.ts";
import { recordChange } from "../features/changes/store.ts";
import { queueBlobDeletion } from "../features/files/store.ts";
import { prepared, type Session } from "../ports/database.ts";
import type { FileRow, FolderRow } from "../ports/tables.ts";
import type { JobDeps } from "./start-jobs.ts";

const DAY = 24 * 60 * 60_000;
const BATCH = 100;

type Purging = Pick<JobDeps, "database" | "clock" | "random">;

const oldFiles = prepared((build, value: { cutoff: number }) =>
  build
    .selectFrom("files")
    .select(["id", "account_id", "vault_id", "blob_key", "size"])
    .where("trashed_at", "<=", value.cutoff)
    .orderBy("trashed_at")
    .limit(BATCH),
);

/** The condition again: the file may have been restored since it was selected. */
const deleteFile = prepared((build, value: { id: string; cutoff: number }) =>
  build.deleteFrom("files").where("id", "=", value.id).where("trashed_at", "<=", value.cutoff),
);

/** Files before folders: a folder goes when nothing lies in it. */
export async function purgeTrash(deps: Purging, signal: AbortSignal): Promise<{ files: number; folders: number }> {
  const cutoff = deps.clock.now() - TRASH_DAYS * DAY;
  let files = 0;
  while (!signal.aborted) {
    const rows = await deps.database.all(oldFiles(deps.database, { cutoff }));
    if (rows.length === 0) break;
    files += await deps.database.transaction((transaction) => purgeFiles(deps, transaction, rows, cutoff), {
      freesSpace: true,
    });
  }
  const folders = signal.aborted
    ? 0
    : await deps.database.transaction((transaction) => purgeFolders(deps, transaction, cutoff), { freesSpace: true });
  return { files, folders };
}

type PurgedFile = Pick<FileRow, "id" | "account_id" | "vault_id" | "blob_key" | "size">;

async function purgeFiles(
  deps: Purging,
  transaction: Session,
  rows: readonly PurgedFile[],
  cutoff: number,
): Promise<number> {
  let count = 0;
  for (const row of rows) {
    if ((await transaction.run(deleteFile(transaction, { id: row.id, cutoff }))) === 0) continue;
    await changeUsage(transaction, { accountId: row.account_id, bytes: -row.size, files: -1, maximum: 0 });
    await queueBlobDeletion(transaction, { blobKey: row.blob_key, notBefore: deps.clock.now() });
    await recordDeletion(deps, transaction, row, "file");
    count += 1;
  }
  return count;
}

type PurgedFolder = Pick<FolderRow, "id" | "account_id" | "vault_id">;

const deleteEmptyFolders = prepared((build, value: { cutoff: number }) =>
  build
    .deleteFrom("folders")
    .where("trashed_at", "<=", value.cutoff)
    .where((row) =>
      row.not(row.exists(row.selectFrom("files").select("files.id").whereRef("files.folder_id", "=", "folders.id"))),
    )
    .where((row) =>
      row.not(
        row.exists(
          row.selectFrom("folders as child").select("child.id").whereRef("child.parent_id", "=", "folders.id"),
        ),
      ),
    )
    .returning(["id", "account_id", "vault_id"]),
);

/** From the leaves up, a level at a time: what still holds something stays, and so does all above it. */
async function purgeFolders(deps: Purging, transaction: Session, cutoff: number): Promise<number> {
  for (let count = 0; ;) {
    const rows: PurgedFolder[] = await transaction.all(deleteEmptyFolders(transaction, { cutoff }));
    if (rows.length === 0) return count;
    for (const row of rows) await recordDeletion(deps, transaction, row, "folder");
    count += rows.length;
  }
}

async function recordDeletion(
  deps: Purging,
  transaction: Session,
  row: PurgedFolder,
  kind: "file" | "folder",
): Promise<void> {
  await recordChange(transaction, {
    accountId: row.account_id,
    action: `${kind}.deleted`,
    actor: null,
    target: { kind, id: row.id, vaultId: row.vault_id },
    occurredAt: deps.clock.now(),
    id: deps.random.uuid(),
  });
}

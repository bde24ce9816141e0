/** The vault gets what the directory has. */
import { connectionOf } from "../../client.ts";
import { UploadBatches, type BatchSlot } from "../../transfer/batch.ts";
import { MAX_BATCHED_BYTES, type Progress } from "../../transfer/upload-options.ts";
import { upload } from "../../transfer/upload.ts";
import { openSource } from "../../transfer/source.ts";
import type { UploadResult } from "../../transfer/upload-codec.ts";
import { guessContentType } from "../files/content-type.ts";
import { stableMark, type Mark } from "../files/file-mark.ts";
import { uploadFile } from "../files/upload-file.ts";
import { failHere, openHere, readHere } from "./compare.ts";
import { inLanes } from "../../http/concurrency.ts";
import { ApiError } from "../../http/errors.ts";
import type { LocalFile } from "./local-tree.ts";
import { nameOf, parentOf, throwIfAborted } from "./outcome.ts";
import type { Plan, Transfer, FolderJob } from "./folder-job.ts";

export async function uploadAll(job: FolderJob, { folders, transfers }: Plan): Promise<void> {
  const createdFolders = await makeFolders(job, folders);
  const folderOf = (path: string): string | undefined => {
    const parent = parentOf(path);
    return parent === "" ? job.place.folderId : (createdFolders.get(parent) ?? job.remote.folders.get(parent)?.id);
  };
  const batches = new UploadBatches(connectionOf(job.client), { signal: job.signal });
  const remaining = new Set(transfers);
  for (const { most, lanes } of [...BATCHED_SIZES, { most: Infinity, lanes: job.lanes }]) {
    const wave = [...remaining].filter(({ act, size }) => most === Infinity || (act === "created" && size <= most));
    for (const transfer of wave) remaining.delete(transfer);
    await inLanes(wave, lanes, async (transfer) => {
      throwIfAborted(job.signal);
      const { path } = transfer;
      const local = job.local.files.get(path);
      if (local === undefined || lacksParent(job, path)) return;
      const sendOne = (batch: BatchSlot | null): Promise<void> =>
        uploadOne(job, { ...transfer, local, folderId: folderOf(path), batch });
      try {
        await (most === Infinity ? sendOne(null) : batches.join(sendOne));
      } catch (error) {
        // What an abort breaks off is no failure of the file, and is not counted.
        throwIfAborted(job.signal);
        failHere(job.outcome, local, error);
      }
      job.progress.done(transfer);
    });
  }
}

/**
 * New files up to `most` bytes go in batches, so many of them at once. While a batch is on its way, the next fills.
 * Each kind takes at most 20 MiB.
 */
const BATCHED_SIZES = [
  { most: 64 * 1024, lanes: 300 },
  { most: MAX_BATCHED_BYTES, lanes: 64 },
];

/** Whether the folder above was not made: that is its failure, and this one's. */
export function lacksParent({ outcome, progress }: FolderJob, path: string): boolean {
  const parent = parentOf(path);
  if (!outcome.isBlocked(parent)) return false;
  outcome.refuse(path, "parent_failed", `The folder ${JSON.stringify(parent)} could not be made`, "See its own line.");
  progress.done({ path, size: 0 });
  return true;
}

/** Level by level: a folder's parent is there before it. */
async function makeFolders(job: FolderJob, paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const { lanes, outcome, place, remote, signal, state } = job;
  const folderIds = new Map<string, string>();
  const levels = Map.groupBy(paths, (path) => path.split("/").length);
  for (const [, level] of [...levels].sort(([a], [b]) => a - b))
    await inLanes(level, lanes, async (path) => {
      throwIfAborted(signal);
      const parent = parentOf(path);
      if (outcome.isBlocked(parent)) {
        outcome.refuse(
          path,
          "parent_failed",
          `The folder ${JSON.stringify(parent)} could not be made`,
          "See its own line.",
        );
        return;
      }
      const parentId = parent === "" ? place.folderId : (folderIds.get(parent) ?? remote.folders.get(parent)?.id);
      try {
        const { act, folderId } = await makeFolder(job, nameOf(path), parentId);
        folderIds.set(path, folderId);
        state.recordFolder(path, folderId);
        outcome.folders.push({ path, act, folderId });
      } catch (error) {
        outcome.fail(path, error);
      }
    });
  return folderIds;
}

/** A folder that somebody else made after the list is taken as it is: what is in it replaces nothing, and the next run compares it. */
async function makeFolder(
  { client, place: { vaultId }, signal }: FolderJob,
  name: string,
  parentId: string | undefined,
): Promise<{ readonly act: "created" | "unchanged"; readonly folderId: string }> {
  try {
    const { id } = await client.folders.create(
      { vaultId, name, ...(parentId === undefined ? {} : { parentId }) },
      { signal },
    );
    return { act: "created", folderId: id };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "name_exists") throw error;
    const { folders } = await client.folders.list(
      { vaultId, parentId: parentId ?? "root", name, limit: 1 },
      { signal },
    );
    const [theirs] = folders;
    if (theirs === undefined) throw error;
    return { act: "unchanged", folderId: theirs.id };
  }
}

interface PendingUpload extends Transfer {
  readonly local: LocalFile;
  readonly folderId: string | undefined;
  /** null: it goes by itself. */
  readonly batch: BatchSlot | null;
}

async function uploadOne(job: FolderJob, sending: PendingUpload): Promise<void> {
  const { outcome, state } = job;
  const { act, path } = sending;
  const openedAt = Date.now();
  const { mark, result } = await (sending.batch === null ? sendAlone(job, sending) : sendBatched(job, sending));
  const { bytes: size, file, sha256 } = result;
  state.recordFile(path, { fileId: file.id, versionId: file.versionId, sha256, mark: stableMark(mark, openedAt) });
  outcome.files.push({ path, act, fileId: file.id, versionId: file.versionId, size, sha256 });
}

interface Sent {
  readonly result: UploadResult;
  /** The file here as it was read. */
  readonly mark: Mark;
}

async function sendAlone(job: FolderJob, sending: PendingUpload): Promise<Sent> {
  const { client, padded, place, progress, remote, signal, store } = job;
  const { folderId, local, path } = sending;
  const there = remote.files.get(path);
  const { handle, mark } = await openHere(local);
  const target =
    there === undefined
      ? targetIn(place.vaultId, folderId, path)
      : // It replaces nobody's later version.
        { vaultId: place.vaultId, fileId: there.id, ifMatch: there.tag };
  const onProgress = ({ bytes }: Progress): void => progress.moved(sending, bytes);
  const options = { signal, padded, store, handle, onProgress };
  return { mark, result: await uploadFile(client, local.place, { ...options, ...target }) };
}

async function sendBatched(job: FolderJob, { batch, folderId, local, path }: PendingUpload): Promise<Sent> {
  const { client, padded, place, signal } = job;
  const contentType = guessContentType(nameOf(path));
  const { bytes, mark } = readHere(local);
  const target = { kind: "file", contentType, ...targetIn(place.vaultId, folderId, path) } as const;
  const options = { signal, padded, ...(batch !== null && { batch }) };
  return { mark, result: await upload(connectionOf(client), target, openSource(bytes), options) };
}

function targetIn(vaultId: string, folderId: string | undefined, path: string) {
  return { vaultId, name: nameOf(path), ...(folderId === undefined ? {} : { folderId }) };
}

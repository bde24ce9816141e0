/** The vault gets what the directory has. */
import { connectionOf } from "../../client.ts";
import { UploadBatches, type BatchSlot } from "../../transfer/batch.ts";
import { MAX_BATCHED_BYTES, type Progress } from "../../transfer/upload-options.ts";
import { upload } from "../../transfer/upload.ts";
import { openSource } from "../../transfer/source.ts";
import type { UploadResult } from "../../transfer/upload-codec.ts";
import { guessContentType } from "../files/content-type.ts";
import { settled, type Mark } from "../files/file-mark.ts";
import { uploadFile } from "../files/upload-file.ts";
import { failHere, openHere, readHere } from "./compare.ts";
import { inLanes } from "../../http/concurrency.ts";
import type { LocalFile } from "./local-tree.ts";
import { nameOf, parentOf, throwIfAborted } from "./outcome.ts";
import type { Plan, Transfer, Work } from "./work.ts";

export async function sendAll(work: Work, { folders, transfers }: Plan): Promise<void> {
  const made = await makeFolders(work, folders);
  const folderOf = (path: string): string | undefined => {
    const parent = parentOf(path);
    return parent === "" ? work.place.folderId : (made.get(parent) ?? work.remote.folders.get(parent)?.id);
  };
  const batches = new UploadBatches(connectionOf(work.client), { signal: work.signal });
  const rest = new Set(transfers);
  for (const { most, lanes } of [...SMALL, { most: Infinity, lanes: work.lanes }]) {
    const wave = [...rest].filter(({ act, size }) => most === Infinity || (act === "created" && size <= most));
    for (const transfer of wave) rest.delete(transfer);
    await inLanes(wave, lanes, async (transfer) => {
      throwIfAborted(work.signal);
      const { path } = transfer;
      const local = work.local.files.get(path);
      if (local === undefined || lacksParent(work, path)) return;
      const sendOne = (batch: BatchSlot | null): Promise<void> =>
        send(work, { ...transfer, local, folderId: folderOf(path), batch });
      try {
        await (most === Infinity ? sendOne(null) : batches.join(sendOne));
      } catch (error) {
        // What an abort breaks off is no failure of the file, and is not counted.
        throwIfAborted(work.signal);
        failHere(work.outcome, local, error);
      }
      work.progress.done(transfer);
    });
  }
}

/**
 * New files up to `most` bytes go in batches, so many of them at once. While a batch is on its way, the next fills.
 * Each kind takes at most 20 MiB.
 */
const SMALL = [
  { most: 64 * 1024, lanes: 300 },
  { most: MAX_BATCHED_BYTES, lanes: 64 },
];

/** Whether the folder above was not made: that is its failure, and this one's. */
export function lacksParent({ outcome, progress }: Work, path: string): boolean {
  const parent = parentOf(path);
  if (!outcome.isBlocked(parent)) return false;
  outcome.refuse(path, "parent_failed", `The folder ${JSON.stringify(parent)} could not be made`, "See its own line.");
  progress.done({ path, size: 0 });
  return true;
}

/** Level by level: a folder's parent is there before it. */
async function makeFolders(work: Work, paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const { client, lanes, outcome, place, remote, signal, state } = work;
  const made = new Map<string, string>();
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
      const parentId = parent === "" ? place.folderId : (made.get(parent) ?? remote.folders.get(parent)?.id);
      try {
        const above = parentId === undefined ? {} : { parentId };
        const { id } = await client.folders.create(
          { vaultId: place.vaultId, name: nameOf(path), ...above },
          { signal },
        );
        made.set(path, id);
        state.noteFolder(path, id);
        outcome.folders.push({ path, act: "created", folderId: id });
      } catch (error) {
        outcome.fail(path, error);
      }
    });
  return made;
}

interface Sending extends Transfer {
  readonly local: LocalFile;
  readonly folderId: string | undefined;
  /** null: it goes by itself. */
  readonly batch: BatchSlot | null;
}

async function send(work: Work, sending: Sending): Promise<void> {
  const { outcome, state } = work;
  const { act, path } = sending;
  const openedAt = Date.now();
  const { mark, result } = await (sending.batch === null ? sendAlone(work, sending) : sendBatched(work, sending));
  const { bytes: size, file, sha256 } = result;
  state.noteFile(path, { fileId: file.id, versionId: file.versionId, sha256, mark: settled(mark, openedAt) });
  outcome.files.push({ path, act, fileId: file.id, versionId: file.versionId, size, sha256 });
}

interface Sent {
  readonly result: UploadResult;
  /** The file here as it was read. */
  readonly mark: Mark;
}

async function sendAlone(work: Work, sending: Sending): Promise<Sent> {
  const { client, padded, place, progress, remote, signal, store } = work;
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

async function sendBatched(work: Work, { batch, folderId, local, path }: Sending): Promise<Sent> {
  const { client, padded, place, signal } = work;
  const contentType = guessContentType(nameOf(path));
  const { bytes, mark } = readHere(local);
  const target = { kind: "file", contentType, ...targetIn(place.vaultId, folderId, path) } as const;
  const options = { signal, padded, ...(batch !== null && { batch }) };
  return { mark, result: await upload(connectionOf(client), target, openSource(bytes), options) };
}

function targetIn(vaultId: string, folderId: string | undefined, path: string) {
  return { vaultId, name: nameOf(path), ...(folderId === undefined ? {} : { folderId }) };
}

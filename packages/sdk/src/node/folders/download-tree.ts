/** The directory gets what the vault has. Nothing is written outside of it, whatever the service's names are. */
import { lstat, mkdir, utimes } from "node:fs/promises";
import { basename, join } from "node:path";
import { SdkError } from "../../http/errors.ts";
import type { Progress } from "../../transfer/upload-options.ts";
import { sourceChanged } from "../../transfer/source.ts";
import { fetchTo, type Fetched } from "../files/download-file.ts";
import { fileErrorCode, syncDirectory } from "../store/durable-file.ts";
import { isSameMark, markOf, stableMark } from "../files/file-mark.ts";
import { holdDirectory } from "./held-directory.ts";
import { inLanes } from "../../http/concurrency.ts";
import type { LocalFile } from "./local-tree.ts";
import { nameOf, parentOf, throwIfAborted } from "./outcome.ts";
import { lacksParent } from "./upload-tree.ts";
import type { Plan, Transfer, FolderJob } from "./folder-job.ts";
import type { RemoteFile } from "./remote-tree.ts";
import type { TrashRun } from "./trash.ts";

/** `trash`: for what is replaced here. null: it is replaced for good, as the caller has it. */
export async function downloadAll(job: FolderJob, { folders, transfers }: Plan, trash: TrashRun | null): Promise<void> {
  const places = new Map<string, string>([["", job.root], ...job.local.folders]);
  /** Directories that have new names. */
  const changed = new Set<string>();
  for (const path of folders) await makeFolder(job, path, places, changed);
  try {
    await inLanes(transfers, job.lanes, async (transfer) => {
      throwIfAborted(job.signal);
      const { path } = transfer;
      const remote = job.remote.files.get(path);
      const directory = places.get(parentOf(path));
      if (remote === undefined || lacksParent(job, path) || directory === undefined) return;
      try {
        await downloadOne(job, transfer, { remote, directory, trash });
        changed.add(directory);
      } catch (error) {
        // What an abort breaks off is no failure of the file, and is not counted.
        throwIfAborted(job.signal);
        job.outcome.fail(path, error);
      }
      job.progress.done(transfer);
    });
  } finally {
    await inLanes(changed, job.lanes, syncIfThere);
  }
}

async function syncIfThere(directory: string): Promise<void> {
  try {
    await syncDirectory(directory);
  } catch (error) {
    if (fileErrorCode(error) !== "ENOENT") throw error;
  }
}

async function makeFolder(
  job: FolderJob,
  path: string,
  places: Map<string, string>,
  changed: Set<string>,
): Promise<void> {
  const { outcome, remote, signal, state } = job;
  throwIfAborted(signal);
  const parent = places.get(parentOf(path));
  const folderId = remote.folders.get(path)?.id;
  if (folderId === undefined || parent === undefined || lacksParent(job, path)) return;
  try {
    await using held = await holdDirectory(parent);
    const place = join(parent, nameOf(path));
    held.verify();
    await mkdir(join(held.fdPath, nameOf(path)), 0o700).catch((error: unknown) => {
      throw held.withRealPath(error);
    });
    places.set(path, place);
    changed.add(parent);
    state.recordFolder(path, folderId);
    outcome.folders.push({ path, act: "created", folderId });
  } catch (error) {
    // On some systems two names of the vault are one here.
    if (fileErrorCode(error) === "EEXIST")
      outcome.refuse(path, "name_collision", `${JSON.stringify(path)} is another item's name here`, RENAME);
    else outcome.fail(path, error);
  }
}

const RENAME = "Rename it at the service, then call again.";

interface DownloadTarget {
  readonly remote: RemoteFile;
  readonly directory: string;
  readonly trash: TrashRun | null;
}

async function downloadOne(
  job: FolderJob,
  transfer: Transfer,
  { directory, remote, trash }: DownloadTarget,
): Promise<void> {
  const { client, outcome, state } = job;
  const { act, path } = transfer;
  const before = act === "replaced" ? job.local.files.get(path) : undefined;
  await using held = await holdDirectory(directory);
  const place = join(held.fdPath, before === undefined ? nameOf(path) : basename(before.place));
  try {
    const fetched = await fetchInto(job, transfer, remote, { place, before }, async () => {
      held.verify();
      if (before !== undefined) await trash?.moveIn(held, before, true);
    });
    const file =
      fetched.storedSha256 === remote.sha256 ? remote : await client.files.get(remote.id, { signal: job.signal });
    if (fetched.storedSha256 !== file.sha256) throw sourceChanged("The file at the service changed while it was read");
    const { bytes: size, sha256 } = fetched;
    const mark = markOf(await lstat(place, { bigint: true }));
    state.recordFile(path, { fileId: file.id, versionId: file.versionId, sha256, mark: stableMark(mark) });
    outcome.files.push({ path, act, fileId: file.id, versionId: file.versionId, size, sha256 });
  } catch (error) {
    throw held.withRealPath(error);
  }
}

/** `confirm` is called last: then the name is given. */
async function fetchInto(
  { client, place: { vaultId }, progress, signal }: FolderJob,
  transfer: Transfer,
  remote: RemoteFile,
  { before, place }: { readonly place: string; readonly before: LocalFile | undefined },
  confirm: () => Promise<void>,
): Promise<Fetched> {
  const overwrite = before !== undefined;
  const onProgress = ({ bytes }: Progress): void => progress.moved(transfer, bytes);
  const options = { overwrite, vaultId, signal, onProgress };
  return await fetchTo(client, remote.id, place, options, async (temporary) => {
    if (before !== undefined) await requireUnchanged(before, place);
    // The service's time, so that the next change shows, however soon it comes.
    const time = new Date(remote.updatedAt);
    await utimes(temporary, time, time);
    await confirm();
  });
}

/** What changed here since it was compared is nobody's to replace. */
async function requireUnchanged({ mark }: LocalFile, place: string): Promise<void> {
  if (isSameMark(mark, markOf(await lstat(place, { bigint: true })))) return;
  throw new SdkError(`${place} changed since it was compared`, {
    code: "destination_exists",
    retryable: false,
    nextStep: "Call again: it compares the two anew.",
  });
}

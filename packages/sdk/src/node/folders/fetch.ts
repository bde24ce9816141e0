/** The directory gets what the vault has. Nothing is written outside of it, whatever the service's names are. */
import { lstat, mkdir, utimes } from "node:fs/promises";
import { basename, join } from "node:path";
import { SdkError } from "../../http/errors.ts";
import type { File } from "../../storage/item-types.ts";
import type { Progress } from "../../transfer/upload-options.ts";
import { sourceChanged } from "../../transfer/source.ts";
import { fetchTo, type Fetched } from "../files/download-file.ts";
import { fileErrorCode, syncDirectory } from "../store/durable-file.ts";
import { isSameMark, markOf, settled } from "../files/file-mark.ts";
import { holdDirectory } from "./held.ts";
import { inLanes } from "../../http/concurrency.ts";
import type { LocalFile } from "./local-tree.ts";
import { nameOf, parentOf, throwIfAborted } from "./outcome.ts";
import { lacksParent } from "./send.ts";
import type { Plan, Transfer, Work } from "./work.ts";
import type { TrashRun } from "./trash.ts";

/** `trash`: for what is replaced here. null: it is replaced for good, as the caller has it. */
export async function fetchAll(work: Work, { folders, transfers }: Plan, trash: TrashRun | null): Promise<void> {
  const places = new Map<string, string>([["", work.root], ...work.local.folders]);
  /** Directories that have new names. */
  const changed = new Set<string>();
  for (const path of folders) await makeFolder(work, path, places, changed);
  try {
    await inLanes(transfers, work.lanes, async (transfer) => {
      throwIfAborted(work.signal);
      const { path } = transfer;
      const remote = work.remote.files.get(path);
      const directory = places.get(parentOf(path));
      if (remote === undefined || lacksParent(work, path) || directory === undefined) return;
      try {
        await receive(work, transfer, { remote, directory, trash });
        changed.add(directory);
      } catch (error) {
        // What an abort breaks off is no failure of the file, and is not counted.
        throwIfAborted(work.signal);
        work.outcome.fail(path, error);
      }
      work.progress.done(transfer);
    });
  } finally {
    await inLanes(changed, work.lanes, syncIfThere);
  }
}

async function syncIfThere(directory: string): Promise<void> {
  try {
    await syncDirectory(directory);
  } catch (error) {
    if (fileErrorCode(error) !== "ENOENT") throw error;
  }
}

async function makeFolder(work: Work, path: string, places: Map<string, string>, changed: Set<string>): Promise<void> {
  const { outcome, remote, signal, state } = work;
  throwIfAborted(signal);
  const parent = places.get(parentOf(path));
  const folderId = remote.folders.get(path)?.id;
  if (folderId === undefined || parent === undefined || lacksParent(work, path)) return;
  try {
    await using held = await holdDirectory(parent);
    const place = join(parent, nameOf(path));
    held.confirm();
    await mkdir(join(held.way, nameOf(path)), 0o700).catch((error: unknown) => {
      throw held.named(error);
    });
    places.set(path, place);
    changed.add(parent);
    state.noteFolder(path, folderId);
    outcome.folders.push({ path, act: "created", folderId });
  } catch (error) {
    // On some systems two names of the vault are one here.
    if (fileErrorCode(error) === "EEXIST")
      outcome.refuse(path, "name_collision", `${JSON.stringify(path)} is another item's name here`, RENAME);
    else outcome.fail(path, error);
  }
}

const RENAME = "Rename it at the service, then call again.";

interface Receiving {
  readonly remote: File;
  readonly directory: string;
  readonly trash: TrashRun | null;
}

async function receive(work: Work, transfer: Transfer, { directory, remote, trash }: Receiving): Promise<void> {
  const { client, outcome, state } = work;
  const { act, path } = transfer;
  const before = act === "replaced" ? work.local.files.get(path) : undefined;
  await using held = await holdDirectory(directory);
  const place = join(held.way, before === undefined ? nameOf(path) : basename(before.place));
  try {
    const fetched = await fetchInto(work, transfer, remote, { place, before }, async () => {
      held.confirm();
      if (before !== undefined) await trash?.take(held, before, true);
    });
    const file =
      fetched.storedSha256 === remote.sha256 ? remote : await client.files.get(remote.id, { signal: work.signal });
    if (fetched.storedSha256 !== file.sha256) throw sourceChanged("The file at the service changed while it was read");
    const { bytes: size, sha256 } = fetched;
    const mark = markOf(await lstat(place, { bigint: true }));
    state.noteFile(path, { fileId: file.id, versionId: file.versionId, sha256, mark: settled(mark) });
    outcome.files.push({ path, act, fileId: file.id, versionId: file.versionId, size, sha256 });
  } catch (error) {
    throw held.named(error);
  }
}

/** `confirm` is called last: then the name is given. */
async function fetchInto(
  { client, place: { vaultId }, progress, signal }: Work,
  transfer: Transfer,
  remote: File,
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

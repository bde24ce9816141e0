/**
 * What is gone at the service goes to the trash here. It must still be what the journal says, and the service must say so for
 * the item itself.
 */
import { lstat, rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { SdkError } from "../../http/errors.ts";
import type { File, Folder } from "../../storage/item-types.ts";
import { fileErrorCode, syncDirectory } from "../store/durable-file.ts";
import { isSameMark, markOf } from "../files/file-mark.ts";
import { isUnchangedHere } from "./compare.ts";
import { holdDirectory, type HeldDirectory } from "./held-directory.ts";
import { inLanes } from "../../http/concurrency.ts";
import type { SkippedItem } from "./options.ts";
import { nameOf, parentOf, throwIfAborted } from "./outcome.ts";
import { changedSince, type TrashRun } from "./trash.ts";
import type { FolderJob } from "./folder-job.ts";

/** Paths here that go: of folders those below come first. */
export interface Deletions {
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

export async function planDeletions(job: FolderJob): Promise<Deletions> {
  const { lanes, local, outcome, remote, signal, state } = job;
  const absence = new AbsenceCheck(job);
  const staying = new Set<string>();
  const stay = (path: string, reason?: SkippedItem["reason"]): void => {
    if (reason !== undefined) outcome.skip(path, reason);
    for (let at = parentOf(path); at !== "" && !staying.has(at); at = parentOf(at)) staying.add(at);
  };
  // Nobody decided about these, so the folders that they lie in stay.
  for (const { path } of [...outcome.skipped, ...outcome.failed]) stay(path);
  const verdicts = new Map<string, SkippedItem["reason"] | "stays" | "goes">();
  await inLanes(local.files.values(), lanes, async (here) => {
    throwIfAborted(signal);
    const { path } = here;
    const recorded = state.files.get(path);
    if (remote.files.has(path) || outcome.isBlocked(path)) verdicts.set(path, "stays");
    else if (recorded === undefined) verdicts.set(path, "unknown_there");
    else
      try {
        if (!(await absence.isGone(path))) verdicts.set(path, "not_gone");
        else verdicts.set(path, (await isUnchangedHere(job, here, recorded)) ? "goes" : "changed_here");
      } catch (error) {
        outcome.fail(path, error);
      }
  });
  const files: string[] = [];
  for (const path of local.files.keys()) {
    const verdict = verdicts.get(path) ?? "stays";
    if (verdict === "goes") files.push(path);
    else stay(path, verdict === "stays" ? undefined : verdict);
  }
  const folders: string[] = [];
  for (const path of [...local.folders.keys()].reverse()) {
    const mayGo =
      !remote.folders.has(path) && !outcome.isBlocked(path) && !staying.has(path) && state.folders.has(path);
    if (mayGo && (await absence.isGone(path))) folders.push(path);
    else stay(path);
  }
  return { files, folders };
}

type ItemLocation = "here" | "elsewhere" | "absent";

/**
 * A list that leaves something out proves nothing: each item is read by its own id. Gone is what is deleted or in the
 * trash, and what is in another place or under another name, or below a folder that is. What a folder's absence says of the
 * items below it does not count: they say it themselves.
 */
class AbsenceCheck {
  readonly #job: FolderJob;
  readonly #locations = new Map<string, Promise<ItemLocation>>();

  constructor(job: FolderJob) {
    this.#job = job;
  }

  async isGone(path: string): Promise<boolean> {
    return (await this.#locate(path)) !== "here" || (await this.#isMoved(parentOf(path)));
  }

  async #isMoved(path: string): Promise<boolean> {
    if (path === "" || this.#job.remote.folders.has(path)) return false;
    return (await this.#locate(path)) === "elsewhere" || (await this.#isMoved(parentOf(path)));
  }

  #locate(path: string): Promise<ItemLocation> {
    const location = this.#locations.get(path) ?? this.#readLocation(path);
    this.#locations.set(path, location);
    return location;
  }

  async #readLocation(path: string): Promise<ItemLocation> {
    const { client, place, signal, state } = this.#job;
    const fileId = state.files.get(path)?.fileId;
    const id = fileId ?? state.folders.get(path);
    // Nothing ever moves to another vault.
    if (id === undefined) return "here";
    const item = await itemOrNull(
      fileId === undefined ? client.folders.get(id, { signal }) : client.files.get(id, { signal }),
    );
    if (item === null || item.trashedAt !== null) return "absent";
    // In a shared vault its signed entry says where it lies. Where the client cannot verify that, nothing does.
    if (item.vaultId !== place.vaultId || item.unreadable !== undefined) return "here";
    const parentId = "folderId" in item ? item.folderId : item.parentId;
    const recordedId = this.#folderIdOf(parentOf(path));
    if (recordedId === undefined) return "here";
    return parentId === recordedId && item.name.normalize("NFC") === nameOf(path) ? "here" : "elsewhere";
  }

  #folderIdOf(path: string): string | null | undefined {
    const { place, state } = this.#job;
    return path === "" ? (place.folderId ?? null) : state.folders.get(path);
  }
}

async function itemOrNull(read: PromiseLike<File | Folder>): Promise<File | Folder | null> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof SdkError && error.code === "not_found") return null;
    throw error;
  }
}

export async function trashLocal(job: FolderJob, { files, folders }: Deletions, trash: TrashRun): Promise<void> {
  const { local, outcome, signal } = job;
  const changed = new Set<string>();
  const remove = async (path: string, place: string, drop: (held: HeldDirectory) => Promise<void>): Promise<void> => {
    throwIfAborted(signal);
    try {
      await using held = await holdDirectory(dirname(place));
      held.verify();
      await drop(held).catch((error: unknown) => {
        throw held.withRealPath(error);
      });
      changed.add(dirname(place));
    } catch (error) {
      outcome.fail(path, error);
    }
  };
  for (const path of files) {
    const here = local.files.get(path);
    if (here === undefined) continue;
    await remove(path, here.place, async (held) => {
      const stats = await lstat(join(held.fdPath, basename(here.place)), { bigint: true });
      if (!isSameMark(here.mark, markOf(stats))) throw changedSince(here.place);
      await trash.moveIn(held, here);
    });
  }
  // What somebody put into a folder meanwhile keeps it.
  for (const path of folders) {
    const place = local.folders.get(path) ?? "";
    await remove(path, place, (held) => rmdir(join(held.fdPath, basename(place))));
  }
  for (const directory of changed)
    await syncDirectory(directory).catch((error: unknown) => {
      if (fileErrorCode(error) !== "ENOENT") throw error;
    });
  recordDeletions(job, { files, folders });
}

/** The receipts. */
export function recordDeletions({ dryRun, local, outcome, state }: FolderJob, { files, folders }: Deletions): void {
  for (const path of files) {
    const recorded = state.files.get(path);
    const here = local.files.get(path);
    if (recorded === undefined || here === undefined || outcome.isBlocked(path)) continue;
    const { fileId, sha256, versionId } = recorded;
    outcome.files.push({ path, act: "removed", fileId, versionId, size: here.mark.size, sha256 });
    if (!dryRun) state.forget(path);
  }
  for (const path of folders) {
    if (outcome.isBlocked(path)) continue;
    outcome.folders.push({ path, act: "removed", folderId: state.folders.get(path) ?? null });
    if (!dryRun) state.forget(path);
  }
}

/** What is gone at the service goes here, if it is still what the journal says and the service says so for the item itself. */
import { lstat, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { SdkError } from "../../errors.ts";
import type { File, Folder } from "../../resources/result-types.ts";
import { fileErrorCode, syncDirectory } from "../durable-file.ts";
import { isSameMark, markOf } from "../file-mark.ts";
import { isUnchangedHere } from "./compare.ts";
import { holdDirectory } from "./held.ts";
import { inLanes } from "../../lanes.ts";
import type { SkippedItem } from "./options.ts";
import { nameOf, parentOf, throwIfAborted } from "./outcome.ts";
import type { Work } from "./work.ts";

/** Paths here that go: of folders those below come first. */
export interface Deletions {
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

export async function planDeletions(work: Work): Promise<Deletions> {
  const { lanes, local, outcome, remote, signal, state } = work;
  const isGone = goneThere(work);
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
    const known = state.files.get(path);
    if (remote.files.has(path) || outcome.isBlocked(path)) verdicts.set(path, "stays");
    else if (known === undefined) verdicts.set(path, "unknown_there");
    else if (!(await isGone(path))) verdicts.set(path, "not_gone");
    else verdicts.set(path, (await isUnchangedHere(work, here, known)) ? "goes" : "changed_here");
  });
  const files: string[] = [];
  for (const path of local.files.keys()) {
    const verdict = verdicts.get(path) ?? "stays";
    if (verdict === "goes") files.push(path);
    else stay(path, verdict === "stays" ? undefined : verdict);
  }
  const folders: string[] = [];
  for (const path of [...local.folders.keys()].reverse())
    if (remote.folders.has(path) || outcome.isBlocked(path)) stay(path);
    else if (!staying.has(path) && state.folders.has(path) && (await isGone(path))) folders.push(path);
    else stay(path);
  return { files, folders };
}

/**
 * A list that leaves something out proves nothing: each item is asked for by its id, or the folder that went with it. Gone is
 * what is deleted, in the trash, in another place or under another name.
 */
function goneThere({ client, place, remote, signal, state }: Work): (path: string) => Promise<boolean> {
  const answers = new Map<string, Promise<boolean>>();
  const idAt = (path: string): string | null | undefined =>
    path === "" ? (place.folderId ?? null) : state.folders.get(path);
  const ask = async (path: string): Promise<boolean> => {
    const fileId = state.files.get(path)?.fileId;
    const id = fileId ?? state.folders.get(path);
    if (id === undefined) return false;
    const item = await itemOrNull(
      fileId === undefined ? client.folders.get(id, { signal }) : client.files.get(id, { signal }),
    );
    if (item === null || item.trashedAt !== null || item.vaultId !== place.vaultId) return true;
    const parentId = "folderId" in item ? item.folderId : item.parentId;
    return parentId !== idAt(parentOf(path)) || (item.unreadable === undefined && item.name !== nameOf(path));
  };
  const isGone = async (path: string): Promise<boolean> => {
    const above = parentOf(path);
    if (above !== "" && !remote.folders.has(above) && (await answerOf(above))) return true;
    return await ask(path);
  };
  const answerOf = (path: string): Promise<boolean> => {
    const answer = answers.get(path) ?? isGone(path);
    answers.set(path, answer);
    return answer;
  };
  return answerOf;
}

async function itemOrNull(asked: PromiseLike<File | Folder>): Promise<File | Folder | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof SdkError && error.code === "not_found") return null;
    throw error;
  }
}

export async function deleteHere(work: Work, { files, folders }: Deletions): Promise<void> {
  const { local, outcome, signal } = work;
  const changed = new Set<string>();
  const remove = async (path: string, place: string, drop: (way: string) => Promise<void>): Promise<void> => {
    throwIfAborted(signal);
    try {
      await using held = await holdDirectory(dirname(place));
      held.confirm();
      await drop(join(held.way, basename(place))).catch((error: unknown) => {
        throw held.named(error);
      });
      changed.add(dirname(place));
    } catch (error) {
      outcome.fail(path, error);
    }
  };
  for (const path of files) {
    const here = local.files.get(path);
    if (here === undefined) continue;
    await remove(path, here.place, async (way) => {
      if (!isSameMark(here.mark, markOf(await lstat(way, { bigint: true }))))
        throw new SdkError(`${here.place} changed since it was compared`, {
          ...{ code: "source_changed", retryable: false },
          nextStep: "Call again: it compares the two anew.",
        });
      await unlink(way);
    });
  }
  // What somebody put into a folder meanwhile keeps it.
  for (const path of folders) await remove(path, local.folders.get(path) ?? "", rmdir);
  for (const directory of changed)
    await syncDirectory(directory).catch((error: unknown) => {
      if (fileErrorCode(error) !== "ENOENT") throw error;
    });
  noteDeleted(work, { files, folders });
}

/** The receipts. */
export function noteDeleted({ dryRun, local, outcome, state }: Work, { files, folders }: Deletions): void {
  for (const path of files) {
    const known = state.files.get(path);
    const here = local.files.get(path);
    if (known === undefined || here === undefined || outcome.isBlocked(path)) continue;
    const { fileId, sha256, versionId } = known;
    outcome.files.push({ path, act: "removed", fileId, versionId, size: here.mark.size, sha256 });
    if (!dryRun) state.forget(path);
  }
  for (const path of folders) {
    if (outcome.isBlocked(path)) continue;
    outcome.folders.push({ path, act: "removed", folderId: state.folders.get(path) ?? null });
    if (!dryRun) state.forget(path);
  }
}

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
import { holdDirectory, type HeldDirectory } from "./held.ts";
import { inLanes } from "../../http/concurrency.ts";
import type { SkippedItem } from "./options.ts";
import { nameOf, parentOf, throwIfAborted } from "./outcome.ts";
import { changedSince, type TrashRun } from "./trash.ts";
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
    else
      try {
        if (!(await isGone(path))) verdicts.set(path, "not_gone");
        else verdicts.set(path, (await isUnchangedHere(work, here, known)) ? "goes" : "changed_here");
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
    if (mayGo && (await isGone(path))) folders.push(path);
    else stay(path);
  }
  return { files, folders };
}

/**
 * A list that leaves something out proves nothing: each item is asked for by its own id. Gone is what is deleted or in the
 * trash, and what is in another place or under another name, or below a folder that is. What a folder's absence says of the
 * items below it does not count: they say it themselves.
 */
function goneThere({ client, place, remote, signal, state }: Work): (path: string) => Promise<boolean> {
  const answers = new Map<string, Promise<Whereabouts>>();
  const idAt = (path: string): string | null | undefined =>
    path === "" ? (place.folderId ?? null) : state.folders.get(path);
  const ask = async (path: string): Promise<Whereabouts> => {
    const fileId = state.files.get(path)?.fileId;
    const id = fileId ?? state.folders.get(path);
    // Nothing ever moves to another vault.
    if (id === undefined) return "here";
    const asked = { signal };
    const item = await itemOrNull(fileId === undefined ? client.folders.get(id, asked) : client.files.get(id, asked));
    if (item === null || item.trashedAt !== null) return "absent";
    // In a shared vault its signed entry says where it lies. Where the client cannot verify that, nothing does.
    if (item.vaultId !== place.vaultId || item.unreadable !== undefined) return "here";
    const [parentId, known] = ["folderId" in item ? item.folderId : item.parentId, idAt(parentOf(path))];
    if (known === undefined) return "here";
    return parentId === known && item.name.normalize("NFC") === nameOf(path) ? "here" : "elsewhere";
  };
  const answerOf = (path: string): Promise<Whereabouts> => {
    const answer = answers.get(path) ?? ask(path);
    answers.set(path, answer);
    return answer;
  };
  const isMoved = async (path: string): Promise<boolean> =>
    path !== "" &&
    !remote.folders.has(path) &&
    ((await answerOf(path)) === "elsewhere" || (await isMoved(parentOf(path))));
  return async (path) => (await answerOf(path)) !== "here" || (await isMoved(parentOf(path)));
}

type Whereabouts = "here" | "elsewhere" | "absent";

async function itemOrNull(asked: PromiseLike<File | Folder>): Promise<File | Folder | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof SdkError && error.code === "not_found") return null;
    throw error;
  }
}

export async function deleteHere(work: Work, { files, folders }: Deletions, trash: TrashRun): Promise<void> {
  const { local, outcome, signal } = work;
  const changed = new Set<string>();
  const remove = async (path: string, place: string, drop: (held: HeldDirectory) => Promise<void>): Promise<void> => {
    throwIfAborted(signal);
    try {
      await using held = await holdDirectory(dirname(place));
      held.confirm();
      await drop(held).catch((error: unknown) => {
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
    await remove(path, here.place, async (held) => {
      const stats = await lstat(join(held.way, basename(here.place)), { bigint: true });
      if (!isSameMark(here.mark, markOf(stats))) throw changedSince(here.place);
      await trash.take(held, here);
    });
  }
  // What somebody put into a folder meanwhile keeps it.
  for (const path of folders) {
    const place = local.folders.get(path) ?? "";
    await remove(path, place, (held) => rmdir(join(held.way, basename(place))));
  }
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

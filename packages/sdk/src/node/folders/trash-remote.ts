/** What was deleted here goes to the trash there, if it is still what the journal says. */
import { parentOf, throwIfAborted } from "./outcome.ts";
import type { Removal, FolderJob } from "./folder-job.ts";

/** Files and folders to put into the trash: of a folder that goes whole, only the folder. */
export interface RemovalPlan {
  readonly all: readonly Removal[];
  readonly trashed: readonly Removal[];
}

export function planRemovals(job: FolderJob): RemovalPlan {
  const { local, outcome, remote, state } = job;
  const going = new Map<string, Removal>();
  /** Folders with something in them that stays. */
  const staying = new Set<string>();
  const stay = (path: string): void => {
    for (let at = parentOf(path); at !== "" && !staying.has(at); at = parentOf(at)) staying.add(at);
  };
  for (const [path, file] of remote.files) {
    if (local.files.has(path) || !outcome.mayBeGone(path)) stay(path);
    else {
      const recorded = state.files.get(path);
      if (recorded?.fileId === file.id && recorded.versionId === file.versionId) going.set(path, { path, item: file });
      else {
        outcome.skip(path, recorded === undefined ? "unknown_here" : "changed_there");
        stay(path);
      }
    }
  }
  // From below: a folder stays when something in it does.
  for (const [path, folder] of [...remote.folders].reverse()) {
    if (local.folders.has(path) || !outcome.mayBeGone(path)) staying.add(path);
    else if (!staying.has(path) && state.folders.get(path) === folder.id) {
      going.set(path, { path, item: folder });
      continue;
    }
    stay(path);
  }
  const all = [...going.values()];
  return { all, trashed: all.filter(({ path }) => !going.has(parentOf(path))) };
}

export async function trashRemote(job: FolderJob, { all, trashed }: RemovalPlan): Promise<void> {
  const { client, outcome, signal } = job;
  if (trashed.length === 0) return;
  throwIfAborted(signal);
  const outcomes = await client.files.trashMany(
    trashed.map(({ item: { id, tag: ifMatch } }) => ({ id, ifMatch })),
    { signal },
  );
  for (const [at, { path }] of trashed.entries()) {
    const error = outcomes[at]?.error ?? null;
    if (error !== null) outcome.fail(path, error);
  }
  recordRemovals(job, all);
}

/** The receipts, also of what is in a folder that went. */
export function recordRemovals({ dryRun, outcome, remote, state }: FolderJob, all: readonly Removal[]): void {
  for (const { path } of all) {
    if (outcome.isBlocked(path)) continue;
    const [file, folder] = [remote.files.get(path), remote.folders.get(path)];
    const sha256 = state.files.get(path)?.sha256 ?? null;
    if (file !== undefined)
      outcome.files.push({ path, act: "removed", fileId: file.id, versionId: file.versionId, size: file.size, sha256 });
    else if (folder !== undefined) outcome.folders.push({ path, act: "removed", folderId: folder.id });
    if (!dryRun) state.forget(path);
  }
}

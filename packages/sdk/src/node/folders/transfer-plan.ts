/** What has to be done so that the receiving side has what the other one has. */
import { compareContents, compareMarks, failHere, type Comparison } from "./compare.ts";
import { inLanes } from "../../http/concurrency.ts";
import { nameOf, throwIfAborted } from "./outcome.ts";
import type { Plan, Transfer, FolderJob } from "./folder-job.ts";

const OTHER_KIND = "Rename one of the two, then call again.";
const DIFFERS = "Compare the two; then pass `overwrite`, or move one of them away.";
/** Names that Windows takes for devices, cuts off or reads as something else. */
const UNFIT_FOR_WINDOWS = /[<>:"|?*]|\.$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

export async function planTransfers(job: FolderJob): Promise<Plan> {
  return { folders: planFolders(job), transfers: await planFiles(job) };
}

function planFolders(job: FolderJob): string[] {
  const { direction, dryRun, going, local, outcome, remote, state } = job;
  const [from, to] = direction === "up" ? [local, remote] : [remote, local];
  const created: string[] = [];
  for (const path of from.folders.keys()) {
    // First of all: also what `delete` leaves in the way is a collision, and no success.
    if (to.files.has(path) && !going.has(path)) {
      outcome.refuse(path, "name_collision", `On the other side ${path} is a file`, OTHER_KIND);
      continue;
    }
    if (isHindered(job, path)) continue;
    const folderId = remote.folders.get(path)?.id ?? null;
    if (to.folders.has(path) && folderId !== null) {
      if (!dryRun) state.recordFolder(path, folderId);
      outcome.folders.push({ path, act: "unchanged", folderId });
    } else created.push(path);
  }
  return created;
}

async function planFiles(job: FolderJob): Promise<Transfer[]> {
  const { direction, going, lanes, local, outcome, remote, signal } = job;
  const [from, to] = direction === "up" ? [local, remote] : [remote, local];
  const transfers: Transfer[] = [];
  const unsure: string[] = [];
  for (const path of from.files.keys()) {
    if (to.folders.has(path) && !going.has(path)) {
      outcome.refuse(path, "name_collision", `On the other side ${path} is a folder`, OTHER_KIND);
      continue;
    }
    if (isHindered(job, path)) continue;
    const [here, there] = [local.files.get(path), remote.files.get(path)];
    if (here === undefined || there === undefined)
      transfers.push({ path, size: here?.mark.size ?? there?.size ?? 0, act: "created" });
    else {
      const comparison = compareMarks(job, here, there);
      if (comparison === null) unsure.push(path);
      else decide(job, path, comparison, transfers);
    }
  }
  await inLanes(unsure, lanes, async (path) => {
    throwIfAborted(signal);
    const [here, there] = [local.files.get(path), remote.files.get(path)];
    if (here === undefined || there === undefined) return;
    try {
      decide(job, path, await compareContents(job, here, there), transfers);
    } catch (error) {
      failHere(outcome, here, error);
    }
  });
  return transfers;
}

function decide(job: FolderJob, path: string, { isKnown, sha256 }: Comparison, transfers: Transfer[]): void {
  const { direction, local, outcome, overwrite, remote, replaceKnown } = job;
  const [here, there] = [local.files.get(path), remote.files.get(path)];
  if (here === undefined || there === undefined) return;
  const { size } = direction === "up" ? here.mark : there;
  if (sha256 !== null)
    outcome.files.push({ path, act: "unchanged", fileId: there.id, versionId: there.versionId, size, sha256 });
  else if (overwrite(path, here.place) || (replaceKnown && isKnown)) transfers.push({ path, size, act: "replaced" });
  else outcome.refuse(path, "destination_exists", `${JSON.stringify(path)} exists there and differs`, DIFFERS);
}

/** Something at the path or above it failed, or is in the way. */
function isHindered({ direction, outcome }: FolderJob, path: string): boolean {
  if (outcome.isBlocked(path)) {
    if (direction === "down" && outcome.skipped.some((item) => item.path === path))
      outcome.refuse(path, "destination_exists", `${JSON.stringify(path)} is no file or folder here`, OTHER_KIND);
    return true;
  }
  if (direction === "up" || process.platform !== "win32" || !UNFIT_FOR_WINDOWS.test(nameOf(path))) return false;
  outcome.refuse(path, "invalid_name", `${JSON.stringify(path)} cannot be a name on this system`, OTHER_KIND);
  return true;
}

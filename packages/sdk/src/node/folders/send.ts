/** The vault gets what the directory has. */
import { uploadFile } from "../upload-file.ts";
import { openHere, settled } from "./compare.ts";
import { inLanes } from "./lanes.ts";
import type { LocalFile } from "./local-tree.ts";
import { nameOf, parentOf, throwIfAborted } from "./outcome.ts";
import type { Plan, Transfer, Work } from "./work.ts";

export async function sendAll(work: Work, { folders, transfers }: Plan): Promise<void> {
  const made = await makeFolders(work, folders);
  const folderOf = (path: string): string | undefined => {
    const parent = parentOf(path);
    return parent === "" ? work.place.folderId : (made.get(parent) ?? work.remote.folders.get(parent)?.id);
  };
  await inLanes(transfers, work.lanes, async (transfer) => {
    throwIfAborted(work.signal);
    const { path } = transfer;
    const local = work.local.files.get(path);
    if (local === undefined || lacksParent(work, path)) return;
    try {
      await send(work, transfer, local, folderOf(path));
    } catch (error) {
      work.outcome.fail(path, error);
    }
    work.progress.done(transfer.size);
  });
}

/** Whether the folder above was not made: that is its failure, and this one's. */
export function lacksParent({ outcome, progress }: Work, path: string): boolean {
  const parent = parentOf(path);
  if (!outcome.isBlocked(parent)) return false;
  outcome.refuse(path, "parent_failed", `The folder ${JSON.stringify(parent)} could not be made`, "See its own line.");
  progress.done(0);
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

async function send(
  work: Work,
  { act, path }: Transfer,
  local: LocalFile,
  folderId: string | undefined,
): Promise<void> {
  const { client, outcome, padded, place, remote, signal, state, uploadJournals } = work;
  const there = remote.files.get(path);
  const openedAt = Date.now();
  const { handle, mark } = await openHere(local);
  const target =
    there === undefined
      ? { vaultId: place.vaultId, name: nameOf(path), ...(folderId === undefined ? {} : { folderId }) }
      : { vaultId: place.vaultId, fileId: there.id, ifMatch: entityTag(there.sha256) };
  const options = { signal, padded, journalDirectory: uploadJournals };
  const { file, bytes, sha256 } = await uploadFile(client, local.place, { ...target, ...options, handle });
  state.noteFile(path, { fileId: file.id, versionId: file.versionId, sha256, mark: settled(mark, openedAt) });
  outcome.files.push({ path, act, fileId: file.id, versionId: file.versionId, size: bytes, sha256 });
}

/** The tag covers the stored bytes. With it an upload replaces nobody's later version. */
function entityTag(sha256: string): string {
  return `"sha256-${Buffer.from(sha256, "hex").toString("base64url")}"`;
}

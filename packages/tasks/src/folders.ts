/** Folders in a vault, by path. */
import { MAX_FOLDER_DEPTH, newNameProblem } from "@coffer/contract";
import { TaskFailure, toFailure } from "./failure.ts";
import { findFolder, requireNames, ROOT, segmentsOf, walkFolders, type FolderWalk } from "./item-lookup.ts";
import type { Task } from "./task.ts";

const ID_OR_PREFIX = /^[0-9a-f]{8}[0-9a-f-]{0,28}$/i;

/**
 * The folder that an id or a path names, or the one that these names lead to inside it, with what is missing made. null: the top of the vault. The
 * whole path is checked before its first folder is made.
 * @throws TaskFailure `not_found` for an id of no folder, `invalid_arguments`, `too_deep`.
 */
export async function ensureFolder(
  task: Task,
  vaultId: string,
  text: string | null,
  inside: readonly string[] = [],
): Promise<string | null> {
  for (let attempt = 0; ; attempt += 1) {
    const { folder, missing } = await findExistingFolders(task, vaultId, text, inside);
    requireNames(missing, newNameProblem);
    try {
      return await makeFolders(task, vaultId, folder?.id ?? null, missing);
    } catch (thrown) {
      // Somebody made the same folder at the same time.
      if (toFailure(thrown, task.signal).code !== "name_exists" || attempt > 2) throw thrown;
    }
  }
}

/** The same, as far as it exists. */
export async function findExistingFolders(
  task: Task,
  vaultId: string,
  text: string | null,
  inside: readonly string[] = [],
): Promise<FolderWalk> {
  const trimmed = text?.trim() ?? ROOT;
  // Digits that are the beginning of no id would make a folder of that name, which nobody meant.
  const isId = trimmed === ROOT || ID_OR_PREFIX.test(trimmed);
  const names = [...(isId ? [] : segmentsOf(trimmed)), ...inside];
  if (names.length > MAX_FOLDER_DEPTH) throw new TaskFailure("too_deep");
  const start = isId ? await findFolder(task, vaultId, trimmed) : null;
  return names.length === 0 ? { folder: start, missing: [] } : await walkFolders(task, vaultId, names, start);
}

async function makeFolders(
  task: Task,
  vaultId: string,
  parentId: string | null,
  names: readonly string[],
): Promise<string | null> {
  const client = await task.client();
  let at = parentId;
  for (const name of names) {
    const { id } = await client.folders.create({ vaultId, name, parentId: at }, { signal: task.signal });
    at = id;
  }
  return at;
}

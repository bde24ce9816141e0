/** Folders in a vault, by path. */
import { toFailure } from "./failure.ts";
import { findFolder, ROOT, segmentsOf, walkFolders } from "./places.ts";
import type { Task } from "./task.ts";

const ID_OR_PREFIX = /^[0-9a-f]{8}[0-9a-f-]{0,28}$/i;

/**
 * The folder that an id or a path names, with the missing folders of a path made. null: the top of the vault.
 * @throws TaskFailure `not_found` for an id of no folder.
 */
export async function ensureFolder(task: Task, vaultId: string, text: string | null): Promise<string | null> {
  if (text === null) return null;
  // Digits that are the beginning of no id would make a folder of that name, which nobody meant.
  if (text.trim() === ROOT || ID_OR_PREFIX.test(text.trim()))
    return (await findFolder(task, vaultId, text))?.id ?? null;
  for (let attempt = 0; ; attempt += 1) {
    const { folder, missing } = await walkFolders(task, vaultId, text);
    try {
      return await makeFolders(task, vaultId, folder?.id ?? null, missing);
    } catch (thrown) {
      // Somebody made the same folder at the same time.
      if (toFailure(thrown, task.signal).code !== "name_exists" || attempt > 2) throw thrown;
    }
  }
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

/** The path of a folder below another, which {@link ensureFolder} takes. */
export function pathBelow(folder: string | null, name: string): string {
  return [...segmentsOf(folder ?? ""), name].join("/");
}

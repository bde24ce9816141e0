/** Acts on several files and folders: each has its own outcome, and one that fails stops no other. */
import { newNameProblem } from "@coffer/contract";
import type { ConditionedItem, File, Folder } from "@coffer/sdk";
import { TaskFailure, toFailure } from "./failure.ts";
import { ensureFolder } from "./folders.ts";
import { runConcurrently } from "./concurrency.ts";
import { findItem, requireNames, wholeId, type Item } from "./item-lookup.ts";
import type { Task } from "./task.ts";

/** What became of one thing that the caller named. */
export interface ItemOutcome {
  /** As the caller named it. */
  readonly named: string;
  /** null: nothing was found. */
  readonly item: Item | null;
  /** null: it is done. */
  readonly failure: TaskFailure | null;
}

/** What is wrong with one name, and not with the call. */
const OF_ONE: ReadonlySet<string> = new Set(["not_found", "ambiguous", "vault_required", "different_vault"]);
const CONCURRENCY = 8;

/** Finds each of the named things; `trashed` looks in the trash, too. */
export async function findItems(
  task: Task,
  vaultId: string | null,
  names: readonly string[],
  options: { readonly trashed?: boolean } = {},
): Promise<ItemOutcome[]> {
  return await lookUpEach(task, names, (name) => findItem(task, vaultId, name, options));
}

/** The same, for names that `find` understands. */
export async function lookUpEach(
  task: Task,
  names: readonly string[],
  find: (named: string) => Promise<Item>,
): Promise<ItemOutcome[]> {
  const outcomes: ItemOutcome[] = [];
  await runConcurrently(names, CONCURRENCY, async (name, at) => {
    try {
      outcomes[at] = { named: name, item: await find(name), failure: null };
    } catch (thrown) {
      const failure = toFailure(thrown, task.signal);
      if (!OF_ONE.has(failure.code)) throw failure;
      outcomes[at] = { named: name, item: null, failure };
    }
  });
  return outcomes;
}

type Act = (items: readonly ConditionedItem[]) => Promise<readonly { readonly id: string; readonly error: unknown }[]>;

/** Acts on the items as they were found, and not on what somebody has made of them since. */
async function actOn(task: Task, outcomes: readonly ItemOutcome[], act: Act): Promise<ItemOutcome[]> {
  const items = new Map(
    outcomes.flatMap(({ item }) => (item === null ? [] : [[item.id, { id: item.id, ifMatch: tagOf(item) }]])),
  );
  const done = items.size === 0 ? [] : await act([...items.values()]);
  const errors = new Map(done.map(({ id, error }) => [id, error]));
  return outcomes.map((outcome) => {
    if (outcome.item === null) return outcome;
    const error = errors.get(outcome.item.id) ?? null;
    return { ...outcome, failure: error === null ? null : toFailure(error, task.signal) };
  });
}

/** Moves what was found to the trash. */
export async function trashItems(task: Task, outcomes: readonly ItemOutcome[]): Promise<ItemOutcome[]> {
  const client = await task.client();
  return await actOn(task, outcomes, (items) => client.files.trashMany(items, { signal: task.signal }));
}

/** All that is in a folder and below it. */
export interface FolderContents {
  readonly files: readonly File[];
  readonly folders: readonly Folder[];
}

/** null: more than `most` files and folders. A service may show folders in folders without end. */
export async function itemsBelow(task: Task, folder: Folder, most: number): Promise<FolderContents | null> {
  const client = await task.client();
  const { signal } = task;
  const state = folder.trashedAt === null ? {} : { trashed: true };
  const files: File[] = [];
  const folders: Folder[] = [];
  const isTooMany = (): boolean => files.length + folders.length > most;
  const folderQueue = [folder];
  // A list can grow while it is iterated.
  for (const { id, vaultId } of folderQueue) {
    const query = { vaultId, limit: 1_000, ...state };
    for await (const file of client.files.list({ ...query, folderId: id }, { signal })) {
      files.push(file);
      if (isTooMany()) return null;
    }
    for await (const below of client.folders.list({ ...query, parentId: id }, { signal })) {
      folders.push(below);
      folderQueue.push(below);
      if (isTooMany()) return null;
    }
  }
  return { files, folders };
}

/**
 * Deletes what was found for good. The service has no such act for folders: of each its files are deleted, and the empty folder
 * goes to the trash. `below`: the files of each folder, by its id.
 */
export async function deleteItems(
  task: Task,
  outcomes: readonly ItemOutcome[],
  below: ReadonlyMap<string, readonly File[]>,
): Promise<ItemOutcome[]> {
  const client = await task.client();
  const { signal } = task;
  const done = [...outcomes];
  const deleteFile = ({ id, tag: ifMatch }: File): Promise<unknown> =>
    client.files.delete(id, { permanent: true, ifMatch, signal });
  await runConcurrently(outcomes, CONCURRENCY, async (outcome, at) => {
    const { item } = outcome;
    if (item === null) return;
    try {
      if (item.kind === "file") await deleteFile(item.file);
      else {
        await runConcurrently(below.get(item.id) ?? [], CONCURRENCY, (file) => deleteFile(file).then(() => undefined));
        if (item.folder.trashedAt === null) await client.folders.delete(item.id, { ifMatch: item.folder.tag, signal });
      }
    } catch (thrown) {
      done[at] = { ...outcome, failure: toFailure(thrown, signal) };
    }
  });
  return done;
}

/** Brings what was found back from the trash. */
export async function restoreItems(task: Task, outcomes: readonly ItemOutcome[]): Promise<ItemOutcome[]> {
  const client = await task.client();
  return await actOn(task, outcomes, (items) => client.files.restoreMany(items, { signal: task.signal }));
}

/** Moves what was found into a folder of the vault, whose missing folders it makes. null: to the top. */
export async function moveItems(
  task: Task,
  vaultId: string,
  outcomes: readonly ItemOutcome[],
  folder: string | null,
): Promise<ItemOutcome[]> {
  const checked = outcomes.map((outcome) =>
    outcome.item === null || vaultOf(outcome.item) === vaultId
      ? outcome
      : { ...outcome, item: null, failure: new TaskFailure("different_vault") },
  );
  if (checked.every(({ item }) => item === null)) return checked;
  const folderId = await ensureFolder(task, vaultId, folder);
  const client = await task.client();
  const options = { vaultId, signal: task.signal };
  return await actOn(task, checked, (items) => client.files.moveMany(items, folderId, options));
}

/** Renames one file or folder, and moves it if a folder is given. `undefined`: it stays where it is. */
export async function renameItem(
  task: Task,
  item: Item,
  name: string,
  folder: string | null | undefined,
): Promise<void> {
  const vaultId = vaultOf(item);
  requireNames([name], newNameProblem);
  const folderId = folder === undefined ? undefined : await ensureFolder(task, vaultId, folder);
  const client = await task.client();
  const options = { vaultId, ifMatch: tagOf(item), signal: task.signal };
  if (item.kind === "file")
    await client.files.update(item.id, { name, ...(folderId === undefined ? {} : { folderId }) }, options);
  else
    await client.folders.update(item.id, { name, ...(folderId === undefined ? {} : { parentId: folderId }) }, options);
}

export function vaultOf(item: Item): string {
  return item.kind === "file" ? item.file.vaultId : item.folder.vaultId;
}

function tagOf(item: Item): string | undefined {
  return item.kind === "file" ? item.file.tag : item.folder.tag;
}

export function nameOf(item: Item): string {
  return item.kind === "file" ? item.file.name : `${item.folder.name}/`;
}

/**
 * The id of a kept version that a number, an id or the beginning of one names.
 * @throws TaskFailure `not_found`.
 */
export async function findVersion(task: Task, file: File, text: string): Promise<string> {
  const client = await task.client();
  const trimmed = text.trim().toLowerCase();
  const number = /^(v|version )?(\d{1,7})$/.exec(trimmed)?.[2];
  const prefix = /^[0-9a-f]{8}[0-9a-f-]{0,28}$/.test(trimmed) ? trimmed : null;
  const matching: string[] = [];
  for await (const version of client.files.versions(file.id, {}, { signal: task.signal })) {
    if (number !== undefined && trimmed.length < 8 && version.number === Number(number)) return version.versionId;
    if (prefix !== null && (version.versionId.startsWith(prefix) || version.versionId === wholeId(text)))
      matching.push(version.versionId);
  }
  const [first, second] = matching;
  if (first !== undefined && second === undefined) return first;
  throw new TaskFailure(first === undefined ? "not_found" : "ambiguous", {
    message: first === undefined ? "The file has no such version" : "Several versions begin like this",
    nextStep: "file_get shows the file's versions, by number and id.",
  });
}

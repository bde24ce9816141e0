/**
 * Finds vaults, folders and files by what people and models call them: an id, the beginning of one, a name, or a path.
 * It never guesses: several matches are refused with the candidates.
 */
import type { Client, File, Folder, Vault } from "@coffer/sdk";
import { TaskFailure, type Candidate } from "./failure.ts";
import type { Task } from "./task.ts";
import { nameProblem } from "@coffer/contract";
import { findLookAlikes } from "./look-alikes.ts";
import { untrusted } from "./untrusted.ts";

/** A file or a folder. */
export type Item =
  | { readonly kind: "file"; readonly id: string; readonly file: File }
  | { readonly kind: "folder"; readonly id: string; readonly folder: Folder };

/** The top of a vault, where a folder is expected. */
export const ROOT = "root";

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const PREFIX = /^[0-9a-f]{8}[0-9a-f-]{0,28}$/;
/** Candidates that one refusal names. */
const MOST_CANDIDATES = 10;
/** Files or folders of a place that are compared with a name that none of them has. */
const MOST_COMPARED = 1_000;
/** Vaults that a search for a name looks at. */
const MOST_VAULTS = 1_000;

/** A whole id in lower case, or null. */
export function wholeId(text: string): string | null {
  const id = text.trim().toLowerCase();
  return ID.test(id) ? id : null;
}

function prefixIn(text: string): string | null {
  const prefix = text.trim().toLowerCase();
  return PREFIX.test(prefix) ? prefix : null;
}

/**
 * The vault with this id, beginning of an id (8 or more hex digits), or exact name.
 * @throws TaskFailure `not_found`; `ambiguous` with the candidates.
 */
export async function findVault(task: Task, text: string): Promise<Vault> {
  const client = await task.client();
  const id = wholeId(text);
  if (id !== null) return await client.vaults.get(id, { signal: task.signal });
  const prefix = prefixIn(text);
  const byId = prefix === null ? [] : await vaultsOf(client, task, { idPrefix: prefix, limit: MOST_CANDIDATES });
  if (byId.length > 0) return only(byId, "vault", text, vaultCandidate);
  const all = await reachableVaults(client, task);
  const matches = all.filter((vault) => isCalled(vault, text.trim()));
  return only(matches, "vault", text, vaultCandidate, () => findLookAlikes(text.trim(), all));
}

type VaultQuery = NonNullable<Parameters<Client["vaults"]["list"]>[0]>;

/** One page of the account's own vaults, and one of those of other accounts. */
async function vaultsOf(client: Client, { signal }: Task, query: VaultQuery): Promise<Vault[]> {
  const pages = [query, { ...query, shared: true }].map((each) => client.vaults.list(each, { signal }));
  const vaults = (await Promise.all(pages)).flatMap((page) => page.vaults);
  return query.idPrefix === undefined ? vaults : starting(vaults, query.idPrefix);
}

async function reachableVaults(client: Client, { signal }: Task): Promise<Vault[]> {
  const vaults: Vault[] = [];
  for (const query of [{}, { shared: true }])
    for await (const vault of client.vaults.list({ ...query, limit: 100 }, { signal })) {
      if (vaults.length >= MOST_VAULTS) break;
      vaults.push(vault);
    }
  return vaults;
}

/**
 * The vault to write to: the one that was named, else the only one that the credential can write.
 * @throws TaskFailure `vault_required` with the candidates.
 */
export async function writableVault(task: Task, vault: string | null): Promise<string> {
  if (vault !== null) return wholeId(vault) ?? (await findVault(task, vault)).id;
  const client = await task.client();
  const { credential } = await client.account.get({ signal: task.signal });
  const [requireOne, ...more] = credential.vaultIds ?? [];
  if (requireOne !== undefined && more.length === 0) return requireOne;
  const all = await reachableVaults(client, task);
  const vaults = credential.vaultIds === null ? all : all.filter(({ id }) => credential.vaultIds?.includes(id));
  const [first, second] = vaults;
  if (first !== undefined && second === undefined) return first.id;
  throw new TaskFailure("vault_required", {
    message: first === undefined ? "There is no vault to write to" : "There are several vaults to write to",
    nextStep:
      first === undefined
        ? "Ask the owner for a vault, or create one."
        : "Ask the user which one of the candidates is meant, and pass its id as vaultId.",
    candidates: vaults.slice(0, MOST_CANDIDATES).map(({ id, name }) => ({ id, name: untrusted(name) })),
  });
}

/**
 * The folder with this id, beginning of an id, or path `A/B` in the vault. null: the top of the vault (`root`, `/`).
 * An id needs no vault.
 * @throws TaskFailure `not_found`, `ambiguous`, `vault_required`.
 */
export async function findFolder(task: Task, vaultId: string | null, text: string): Promise<Folder | null> {
  const trimmed = text.trim();
  if (trimmed === ROOT || segmentsOf(trimmed).length === 0) return null;
  const client = await task.client();
  const id = wholeId(trimmed);
  if (id !== null) return inVault(await client.folders.get(id, { signal: task.signal }), vaultId);
  const prefix = prefixIn(trimmed);
  if (prefix !== null) {
    const query = { idPrefix: prefix, limit: MOST_CANDIDATES, ...vaultFilter(vaultId) };
    const folders = starting((await client.folders.list(query, { signal: task.signal })).folders, prefix);
    if (folders.length > 0) return only(folders, "folder", trimmed, folderCandidate);
    if (vaultId === null) throw notFoundFailure("folder", trimmed);
  }
  const vault = requireVault(vaultId, trimmed);
  const { folder, missing } = await walkFolders(task, vault, segmentsOf(trimmed));
  const [name] = missing;
  if (name !== undefined)
    throw notFoundFailure("folder", trimmed, await foldersLike(client, task, vault, folder, name));
  return folder;
}

/** What of a path exists, from the top down. */
export interface FolderWalk {
  /** The deepest folder that exists; null: the top of the vault. */
  readonly folder: Folder | null;
  /** Names of the folders that do not exist. */
  readonly missing: readonly string[];
}

/**
 * Follows names of folders as far as they exist, from a folder or the top of the vault. A caller makes the missing ones.
 * @throws TaskFailure `invalid_arguments` for a name that no folder can have, before anything is asked.
 */
export async function walkFolders(
  task: Task,
  vaultId: string,
  names: readonly string[],
  from: Folder | null = null,
): Promise<FolderWalk> {
  requireNames(names, nameProblem);
  const client = await task.client();
  await requireSearchable(client, task, vaultId);
  let folder = from;
  for (const [depth, name] of names.entries()) {
    const parentId: string = folder === null ? ROOT : folder.id;
    const page: { folders: Folder[] } = await client.folders.list(
      { vaultId, parentId, name, limit: 2 },
      { signal: task.signal },
    );
    const next = page.folders.find((each) => isCalled(each, name));
    if (next === undefined) return { folder, missing: names.slice(depth) };
    folder = next;
  }
  return { folder, missing: [] };
}

/** Names of the path that cannot be any are refused before one of the others is looked for or made. */
export function requireNames(names: readonly string[], problemOf: (name: string) => string | null): void {
  for (const name of names) {
    const problem = problemOf(name);
    if (problem === null) continue;
    throw new TaskFailure("invalid_arguments", {
      message: `A name in a path of a vault ${problem}`,
      nextStep: "Name each folder from the top of the vault: A/B.",
      detail: untrusted(name),
    });
  }
}

/** What of a page of a folder's items looks like the name. It is asked for only where nothing has the name. */
async function foldersLike(
  client: Client,
  { signal }: Task,
  vaultId: string,
  folder: Folder | null,
  name: string,
): Promise<Candidate[]> {
  const query = { vaultId, parentId: folder?.id ?? ROOT, limit: MOST_COMPARED };
  const { folders } = await client.folders.list(query, { signal });
  return findLookAlikes(name, folders).map(folderCandidate);
}

/** Names of a path, from the top: `/A/B/` is A, then B. */
export function segmentsOf(path: string): string[] {
  return path
    .split("/")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== ".");
}

/**
 * The file or folder with this id, beginning of an id, or path in the vault. `trashed` looks in the trash as well.
 * @throws TaskFailure `not_found`, `ambiguous`, `vault_required`.
 */
export async function findItem(
  task: Task,
  vaultId: string | null,
  text: string,
  { trashed = false }: { readonly trashed?: boolean } = {},
): Promise<Item> {
  const client = await task.client();
  const trimmed = text.trim();
  const id = wholeId(trimmed);
  if (id !== null) return await itemOf(client, task, id, vaultId);
  const prefix = prefixIn(trimmed);
  if (prefix !== null) {
    const items = await itemsStarting(client, task, prefix, vaultId, trashed);
    if (items.length > 0) return only(items, "file", trimmed, itemCandidate);
    if (vaultId === null) throw notFoundFailure("file", trimmed);
  }
  const inTrash = trashed ? await trashedAt(client, task, requireVault(vaultId, trimmed), trimmed) : [];
  return inTrash.length > 0
    ? only(inTrash, "file", trimmed, itemCandidate)
    : await itemAt(client, task, requireVault(vaultId, trimmed), trimmed);
}

/** {@link findItem}, where a folder does not serve. */
export async function findFile(task: Task, vaultId: string | null, text: string): Promise<File> {
  const id = wholeId(text);
  if (id !== null) {
    const client = await task.client();
    return inVault(await client.files.get(id, { signal: task.signal }), vaultId);
  }
  const item = await findItem(task, vaultId, text);
  if (item.kind === "file") return item.file;
  throw new TaskFailure("invalid_arguments", {
    message: "This is a folder, and the tool takes a file",
    nextStep: "Name a file. The list of the folder shows those in it.",
  });
}

async function itemOf(client: Client, task: Task, id: string, vaultId: string | null): Promise<Item> {
  try {
    return fileItem(inVault(await client.files.get(id, { signal: task.signal }), vaultId));
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  const folder = inVault(await client.folders.get(id, { signal: task.signal }), vaultId);
  return { kind: "folder", id: folder.id, folder };
}

async function itemsStarting(
  client: Client,
  { signal }: Task,
  idPrefix: string,
  vaultId: string | null,
  trashed: boolean,
): Promise<Item[]> {
  const query = { idPrefix, limit: MOST_CANDIDATES, ...vaultFilter(vaultId) };
  const states = trashed ? [{}, { trashed: true }] : [{}];
  const pages = states.flatMap((state) => [
    client.files.list({ ...query, ...state }, { signal }).then(({ files }) => files.map(fileItem)),
    client.folders.list({ ...query, ...state }, { signal }).then(({ folders }) => folders.map(folderItem)),
  ]);
  return starting((await Promise.all(pages)).flat(), idPrefix);
}

async function itemAt(client: Client, task: Task, vaultId: string, path: string): Promise<Item> {
  const names = segmentsOf(path);
  const name = names.at(-1);
  if (name === undefined) throw notFoundFailure("file", path);
  requireNames([name], nameProblem);
  const above = await walkFolders(task, vaultId, names.slice(0, -1));
  const [missing] = above.missing;
  if (missing !== undefined)
    throw notFoundFailure("file", path, await foldersLike(client, task, vaultId, above.folder, missing));
  const parentId = above.folder === null ? ROOT : above.folder.id;
  const { signal } = task;
  const [files, folders] = await Promise.all([
    client.files.list({ vaultId, folderId: parentId, name, limit: 2 }, { signal }),
    client.folders.list({ vaultId, parentId, name, limit: 2 }, { signal }),
  ]);
  const items = [
    ...files.files.filter((each) => isCalled(each, name)).map(fileItem),
    ...folders.folders.filter((each) => isCalled(each, name)).map(folderItem),
  ];
  if (items.length > 0) return only(items, "file", path, itemCandidate);
  const page = await client.files.list({ vaultId, folderId: parentId, limit: MOST_COMPARED }, { signal });
  throw notFoundFailure("file", path, [
    ...(await foldersLike(client, task, vaultId, above.folder, name)),
    ...findLookAlikes(name, page.files).map((file) => itemCandidate(fileItem(file))),
  ]);
}

/** What lies in the trash by this name and was in this folder. A single name may have been anywhere. */
async function trashedAt(client: Client, task: Task, vaultId: string, path: string): Promise<Item[]> {
  const names = segmentsOf(path);
  const name = names.at(-1);
  if (name === undefined) return [];
  requireNames([name], nameProblem);
  const above = names.length === 1 ? null : await walkFolders(task, vaultId, names.slice(0, -1));
  if (above === null) await requireSearchable(client, task, vaultId);
  else if (above.missing.length > 0) return [];
  const query = { vaultId, trashed: true, name, limit: MOST_CANDIDATES };
  const { signal } = task;
  // Names of a shared vault are found by their folder alone.
  const isShared = above === null && (await client.vaults.get(vaultId, { signal })).type === "shared";
  const parentId = isShared ? ROOT : (above?.folder?.id ?? null);
  const [files, folders] = await Promise.all([
    client.files.list({ ...query, ...(parentId === null ? {} : { folderId: parentId }) }, { signal }),
    client.folders.list({ ...query, ...(parentId === null ? {} : { parentId }) }, { signal }),
  ]);
  return [
    ...files.files.filter((each) => isCalled(each, name)).map(fileItem),
    ...folders.folders.filter((each) => isCalled(each, name)).map(folderItem),
  ];
}

/** Vaults that are public. A vault never changes its type. */
const publicVaults = new WeakMap<Client, Set<string>>();

/**
 * Names of a shared vault are encrypted. A client that cannot open the vault would send the plain name to the service.
 * @throws TaskFailure `shared_vault`
 */
async function requireSearchable(client: Client, task: Task, vaultId: string): Promise<void> {
  const cached = publicVaults.get(client) ?? new Set();
  if (cached.has(vaultId) || (await task.chainAddress()) !== null) return;
  const { type } = await client.vaults.get(vaultId, { signal: task.signal });
  if (type === "shared") throw new TaskFailure("shared_vault");
  publicVaults.set(client, cached.add(vaultId));
}

/** What a service returns beside what was asked for does not count. */
function isCalled(item: { readonly name: string }, name: string): boolean {
  return item.name.normalize("NFC") === name.normalize("NFC");
}

function starting<T extends { readonly id: string }>(items: readonly T[], prefix: string): T[] {
  const plain = (id: string): string => id.replaceAll("-", "");
  return items.filter(({ id }) => plain(id).startsWith(plain(prefix)));
}

const fileItem = (file: File): Item => ({ kind: "file", id: file.id, file });
const folderItem = (folder: Folder): Item => ({ kind: "folder", id: folder.id, folder });
const vaultCandidate = ({ id, name }: Vault): Candidate => ({ id, name: untrusted(name) });
const folderCandidate = ({ id, name }: Folder): Candidate => ({ id, name: untrusted(name) });
const itemCandidate = (item: Item): Candidate => ({
  id: item.id,
  name: untrusted(item.kind === "file" ? item.file.name : `${item.folder.name}/`),
});

function vaultFilter(vaultId: string | null): { vaultId?: string } {
  return vaultId === null ? {} : { vaultId };
}

/** With a named vault, what lies in another one is not found. */
function inVault<T extends { readonly vaultId: string }>(item: T, vaultId: string | null): T {
  if (vaultId !== null && item.vaultId !== vaultId) throw new TaskFailure("not_found");
  return item;
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "not_found";
}

function requireVault(vaultId: string | null, path: string): string {
  if (vaultId !== null) return vaultId;
  throw new TaskFailure("vault_required", {
    message: "A path lies in a vault, and no vault is named",
    nextStep: `Pass the vault as vaultId, or an id in place of the path. An id has 8 hex digits at least${path.length < 8 ? "" : ", and no other letters"}.`,
  });
}

function only<T extends { readonly id: string }>(
  matches: readonly T[],
  kind: "vault" | "folder" | "file",
  text: string,
  show: (each: T) => Candidate,
  similar: () => readonly T[] = () => [],
): T {
  const distinct = [...new Map(matches.map((each) => [each.id, each])).values()];
  const [first, second] = distinct;
  if (first === undefined) throw notFoundFailure(kind, text, similar().map(show));
  if (second === undefined) return first;
  throw new TaskFailure("ambiguous", { candidates: distinct.slice(0, MOST_CANDIDATES).map(show) });
}

const LISTED_BY = {
  vault: "vault_list shows the vaults.",
  folder: "file_list shows folders.",
  file: "file_list and file_search show files.",
};

/** `similar`: what is there and looks the same, which the caller may have meant. */
function notFoundFailure(kind: keyof typeof LISTED_BY, text: string, similar: readonly Candidate[] = []): TaskFailure {
  const candidates = similar.slice(0, MOST_CANDIDATES);
  return new TaskFailure("not_found", {
    about: kind,
    message: candidates.length === 0 ? `There is no such ${kind}` : `There is no such ${kind}, only a similar name`,
    nextStep:
      candidates.length === 0
        ? `Check the id, name or path. ${LISTED_BY[kind]}`
        : "If a candidate is meant, call again with its id.",
    detail: untrusted(text),
    candidates,
  });
}

/** Ids cut to 8 hex digits, or to more where two of them begin alike. */
export function shortIds(ids: Iterable<string>): (id: string) => string {
  const all = [...new Set(ids)].toSorted();
  const lengths = new Map<string, number>();
  for (const [index, id] of all.entries()) {
    const alike = Math.max(common(id, all[index - 1] ?? ""), common(id, all[index + 1] ?? ""));
    lengths.set(id, alike < 8 ? 8 : Math.min(id.length, alike + 2));
  }
  return (id) => id.slice(0, lengths.get(id) ?? id.length);
}

function common(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}

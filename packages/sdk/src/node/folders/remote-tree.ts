/** What is below a folder of a vault, by path. */
import { nameProblem } from "@coffer/contract";
import { type Client, connectionOf } from "../../client.ts";
import { sharedCode } from "../../connection/shared-code.ts";
import type { IndexedNames } from "../../search/name-index.ts";
import type { File, Folder } from "../../storage/item-types.ts";
import { ContractError } from "../../http/errors.ts";
import { isLeftover } from "../files/download-file.ts";
import { inLanes } from "../../http/concurrency.ts";
import { pathIn, throwIfAborted, type Outcome } from "./outcome.ts";
import { isLocalTrash } from "./trash-name.ts";

export interface RemotePlace {
  readonly vaultId: string;
  readonly folderId?: string;
}

/** What folder calls need of a file at the service. */
export type RemoteFile = Pick<File, "id" | "versionId" | "size" | "sha256" | "tag" | "updatedAt">;
export type RemoteFolder = Pick<Folder, "id" | "tag">;

export interface RemoteTree {
  readonly files: ReadonlyMap<string, RemoteFile>;
  /** Folders before what is in them. */
  readonly folders: ReadonlyMap<string, RemoteFolder>;
  /** The service listed all of it in this call. false: an earlier call listed it, and the change feed showed what has changed. */
  readonly isListed: boolean;
}

export interface ListingOptions {
  readonly lanes: number;
  readonly signal: AbortSignal | undefined;
  /** Where names matter that have no place here. null: they are only there. */
  readonly refuse: Outcome | null;
  /** Builds an index of the vault's names for a folder, too: the call is likely to be repeated. */
  readonly isRepeated: boolean;
  /** The oldest list that will do: milliseconds since 1970. Default: one of the last 24 hours. */
  readonly listedSince?: number;
}

const PAGE_LIMIT = 1000;
/** With more folders than this, a list of the whole vault takes fewer requests. */
const MAX_LISTS = 64;
/** What the change feed left out shows after that time. */
const MAX_LIST_AGE_MS = 24 * 60 * 60 * 1000;

/**
 * In a vault with encrypted names the tree comes from the index of names, which is built with the first call. For a folder
 * a call that is not likely to be repeated lists what is below it, unless there is an index or there are many folders.
 */
export async function listTree(client: Client, place: RemotePlace, listing: ListingOptions): Promise<RemoteTree> {
  const startedAt = Date.now();
  const onlyBuilt = place.folderId !== undefined && !listing.isRepeated;
  const indexed = await indexedNames(client, place, { ...listing, onlyBuilt });
  if (indexed !== null) return indexedTree(client, place, listing, { indexed, startedAt });
  const folders = await listFolders(client, place, listing.signal);
  const tree = new TreeBuilder(place, folders, listing);
  const ids = tree.folderIds();
  if (onlyBuilt && ids.length > MAX_LISTS) {
    const built = await indexedNames(client, place, { ...listing, onlyBuilt: false });
    if (built !== null) return indexedTree(client, place, listing, { indexed: built, startedAt });
  }
  for await (const file of filesOf(client, place, ids, listing)) {
    throwIfAborted(listing.signal);
    tree.addFile(file, file.folderId);
  }
  return tree.build(true);
}

async function listFolders(
  client: Client,
  { folderId, vaultId }: RemotePlace,
  signal: AbortSignal | undefined,
): Promise<TreeFolder[]> {
  const folderCheck = folderId === undefined ? null : requireFolder(client, vaultId, folderId, signal);
  // It is waited for below, also when the list fails first.
  folderCheck?.catch(() => undefined);
  const folders: TreeFolder[] = [];
  for await (const folder of client.folders.list({ vaultId, limit: PAGE_LIMIT }, { signal })) folders.push(folder);
  await folderCheck;
  return folders;
}

/**
 * null: the service reads the names of the vault, there is no index yet and none is to be built, or this client cannot open
 * them: then each item of a list says so.
 */
async function indexedNames(
  client: Client,
  { vaultId }: RemotePlace,
  { listedSince = Date.now() - MAX_LIST_AGE_MS, onlyBuilt, signal }: ListingOptions & { readonly onlyBuilt: boolean },
): Promise<IndexedNames | null> {
  const connection = connectionOf(client);
  if (connection.sharedVaults === null) return null;
  const { isClosed, openIndex } = await sharedCode(connection);
  const limits = { deadline: Number.POSITIVE_INFINITY, listedSince, onlyBuilt, writesAll: true };
  for (;;) {
    throwIfAborted(signal);
    const side = await openIndex(connection, vaultId, { ...limits, options: { signal }, isNamed: true }).catch(
      (error: unknown) => {
        if (isClosed(error)) return null;
        throw error;
      },
    );
    if (side === null || side.by === "service") return null;
    if (side.names !== null || onlyBuilt) return side.names;
  }
}

async function indexedTree(
  client: Client,
  place: RemotePlace,
  listing: ListingOptions,
  { indexed, startedAt }: { readonly indexed: IndexedNames; readonly startedAt: number },
): Promise<RemoteTree> {
  const { folderId, vaultId } = place;
  const { listedAt, table } = indexed;
  if (folderId !== undefined && table.folders.get(folderId)?.trashedAt !== null)
    await requireFolder(client, vaultId, folderId, listing.signal);
  const present: TreeFolder[] = [];
  for (const [id, { name, parentId, tag, trashedAt }] of table.folders)
    if (trashedAt === null) present.push({ id, name, parentId, tag });
  const unreadable = [...table.unreadable].filter(([, { trashedAt }]) => trashedAt === null);
  for (const [id, { code, item, parentId }] of unreadable)
    if (item === "folder") present.push({ id, name: "", parentId, unreadable: code });
  const tree = new TreeBuilder(place, present, listing);
  for (const file of table.files) if (file.trashedAt === null) tree.addFile(file, file.folderId);
  for (const [id, { code, item, parentId }] of unreadable)
    if (item === "file") tree.refuse(parentId, { id, name: "", unreadable: code });
  return tree.build(listedAt >= (listing.listedSince ?? startedAt));
}

interface NamedItem {
  readonly id: string;
  readonly name: string;
  readonly unreadable?: string;
}

type TreeFolder = NamedItem & RemoteFolder & { readonly parentId: string | null };

/** Each item names its folder. What no path leads to from the named folder is not below it, whoever claims so. */
class TreeBuilder {
  readonly #files = new Map<string, RemoteFile>();
  readonly #folders = new Map<string, RemoteFolder>();
  /** Paths of the folders, by id. */
  readonly #paths: Map<string | null, string>;
  readonly #outcome: Outcome | null;

  constructor({ folderId }: RemotePlace, folders: readonly TreeFolder[], { refuse }: ListingOptions) {
    this.#outcome = refuse;
    this.#paths = new Map([[folderId ?? null, ""]]);
    const children = Map.groupBy(folders, ({ parentId }) => parentId);
    for (const [parent, path] of this.#paths)
      for (const folder of children.get(parent) ?? []) {
        const at = this.#claimPath(path, folder);
        if (at === null || this.#paths.has(folder.id)) continue;
        this.#folders.set(at, folder);
        this.#paths.set(folder.id, at);
      }
  }

  folderIds(): (string | null)[] {
    return [...this.#paths.keys()];
  }

  addFile(file: NamedItem & RemoteFile, folderId: string | null): void {
    const path = this.#paths.get(folderId);
    const at = path === undefined ? null : this.#claimPath(path, file);
    if (at !== null) this.#files.set(at, file);
  }

  /** For a file that cannot be read. */
  refuse(folderId: string | null, file: NamedItem): void {
    const path = this.#paths.get(folderId);
    if (path !== undefined) this.#claimPath(path, file);
  }

  build(isListed: boolean): RemoteTree {
    return { files: this.#files, folders: this.#folders, isListed };
  }

  /** The path of an item whose name can be one. null: it has no place in the tree. */
  #claimPath(parent: string, { id, name, unreadable }: NamedItem): string | null {
    const problem = unreadable ?? problemOf(name);
    if (problem !== null) {
      const idPath = pathIn(parent, id);
      if (unreadable === undefined)
        this.#outcome?.refuse(idPath, "invalid_name", `The name of ${id} cannot be a file's: it ${problem}`, RENAME);
      else this.#outcome?.refuse(idPath, unreadable, `${id} cannot be read`, CHECK);
      return null;
    }
    const normal = pathIn(parent, name).normalize("NFC");
    if (this.#files.has(normal) || this.#folders.has(normal)) {
      this.#outcome?.refuse(normal, "name_collision", `Two items of the vault are ${JSON.stringify(normal)}`, RENAME);
      if (this.#outcome !== null) return null;
    }
    return normal;
  }
}

async function requireFolder(
  client: Client,
  vaultId: string,
  folderId: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const folder = await client.folders.get(folderId, { signal });
  if (folder.vaultId !== vaultId || folder.trashedAt !== null)
    throw new ContractError("request", "folders.get", ["folderId: not a folder of this vault, or in the trash"]);
}

async function* filesOf(
  client: Client,
  { vaultId, folderId }: RemotePlace,
  folders: readonly (string | null)[],
  { lanes, signal }: ListingOptions,
): AsyncGenerator<File, void, undefined> {
  if (folderId === undefined || folders.length > MAX_LISTS) {
    yield* client.files.list({ vaultId, limit: PAGE_LIMIT }, { signal });
    return;
  }
  const files: File[] = [];
  await inLanes(folders, lanes, async (id) => {
    for await (const file of client.files.list({ vaultId, folderId: id ?? "root", limit: PAGE_LIMIT }, { signal }))
      files.push(file);
  });
  yield* files;
}

/** By the first a service or a member could write into the trash, and what has the second is removed as left behind. */
function problemOf(name: string): string | null {
  if (isLocalTrash(name)) return "is that of the trash of this machine";
  return isLeftover(name) ? "is that of an unfinished download" : nameProblem(name);
}

const RENAME = "Rename it at the service, then call again.";
const CHECK = "Look at `vaults.checkAccess`, then call again.";

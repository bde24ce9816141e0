/** The verified names of one vault in memory: a table of files, a table of folders, and the search in them. */
import { bareType, foldText, isAuthor, rankName, searchWords } from "@coffer/contract";
import { type FolderRow, type IndexRow, keyOfRow, type NameRow, type UnreadableRow } from "./index-rows.ts";
import type { FileSearchQuery } from "./search-types.ts";

/** The place of a matching file in the order of all: by rank, the newest first, then by id. */
export interface SortKey {
  readonly rank: number;
  /** Milliseconds since 1970. */
  readonly made: number;
  readonly id: string;
}

export interface Hit extends SortKey {
  readonly row: NameRow;
}

/** The conditions of a search, read once for all vaults. */
export interface NameFilter {
  readonly words: readonly string[];
  readonly query: FileSearchQuery;
  readonly since: number;
  readonly until: number;
}

export function nameFilter(query: FileSearchQuery): NameFilter {
  const { since, until, q = "" } = query;
  return {
    words: searchWords(q),
    query,
    since: since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(since),
    until: until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until),
  };
}

export function compareSortKeys(one: SortKey, other: SortKey): number {
  return one.rank - other.rank || other.made - one.made || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
}

/** A row as a search compares it. */
interface SearchedFile {
  readonly row: NameRow;
  readonly made: number;
  readonly type: string;
  readonly folded: string;
  readonly words: readonly string[];
}

/** A row that is not as it is stored. */
export interface RowUpdate {
  /** The key (`keyOfRow`) under which it is stored; null: it is not. */
  readonly before: string | null;
  /** null: it is not there any more. */
  readonly row: IndexRow | null;
}

export class NameTable {
  readonly #folders = new Map<string, FolderRow>();
  readonly #unreadable = new Map<string, UnreadableRow>();
  /** Rows that were changed since they were stored, by kind and id, each with the key that it is stored under. */
  readonly #changed = new Map<
    string,
    { readonly kind: IndexRow["kind"]; readonly id: string; readonly before: string | null }
  >();
  readonly #files = new Map<string, NameRow>();
  /** Made by the first search: other readers do not need it. */
  readonly #searched = new WeakMap<NameRow, SearchedFile>();
  /** Newest first; null: to be sorted again. */
  #ordered: readonly SearchedFile[] | null = null;

  get folders(): ReadonlyMap<string, FolderRow> {
    return this.#folders;
  }

  get files(): Iterable<NameRow> {
    return this.#files.values();
  }

  /** Files and folders whose names do not verify, by id. */
  get unreadable(): ReadonlyMap<string, UnreadableRow> {
    return this.#unreadable;
  }

  /** Rows of files and folders, also of those that do not verify. */
  get size(): number {
    return this.#files.size + this.#folders.size + this.#unreadable.size;
  }

  put(row: NameRow): void {
    this.#recordChange("file", row.id);
    this.#recordChange("unreadable", row.id);
    this.#set(row);
  }

  putUnreadable(id: string, row: UnreadableRow): void {
    if (row.item === "file") this.remove(id);
    else this.removeFolder(id);
    this.#unreadable.set(id, row);
  }

  putFolder(id: string, folder: FolderRow): void {
    this.#recordChange("folder", id);
    this.#recordChange("unreadable", id);
    this.#unreadable.delete(id);
    this.#folders.set(id, folder);
  }

  removeFolder(id: string): void {
    this.#recordChange("folder", id);
    this.#recordChange("unreadable", id);
    this.#unreadable.delete(id);
    this.#folders.delete(id);
  }

  /** Puts a row there as it is stored. */
  load(row: IndexRow): void {
    if (row.kind === "file") this.#set(row.file);
    else if (row.kind === "folder") this.#folders.set(row.id, row.folder);
    else this.#unreadable.set(row.id, row.unreadable);
  }

  /** What the stored rows have to become. */
  updates(): RowUpdate[] {
    return [...this.#changed.values()]
      .map(({ kind, id, before }): RowUpdate => ({ before, row: this.#find(kind, id) }))
      .filter(({ before, row }) => before !== null || row !== null);
  }

  /** From now on the rows are stored as they are. */
  markStored(): void {
    this.#changed.clear();
  }

  #recordChange(kind: IndexRow["kind"], id: string): void {
    const name = `${kind} ${id}`;
    if (this.#changed.has(name)) return;
    const row = this.#find(kind, id);
    this.#changed.set(name, { kind, id, before: row === null ? null : keyOfRow(row) });
  }

  #find(kind: IndexRow["kind"], id: string): IndexRow | null {
    if (kind === "unreadable") {
      const unreadable = this.#unreadable.get(id);
      return unreadable === undefined ? null : { kind, id, unreadable };
    }
    const [file, folder] = [this.#files.get(id), this.#folders.get(id)];
    if (kind === "file") return file === undefined ? null : { kind, id, file };
    return folder === undefined ? null : { kind, id, folder };
  }

  #set(row: NameRow): void {
    this.#files.set(row.id, row);
    this.#unreadable.delete(row.id);
    this.#ordered = null;
  }

  remove(id: string): void {
    this.#recordChange("file", id);
    this.#recordChange("unreadable", id);
    this.#unreadable.delete(id);
    if (this.#files.delete(id)) this.#ordered = null;
  }

  /** Files in the folder and in all below it. */
  below(folderId: string): NameRow[] {
    const isBelow = this.#reach(folderId);
    return [...this.#files.values()].filter((row) => isBelow(row.folderId));
  }

  /** Ids of files in the folder and in all below it whose names do not verify. */
  unreadableBelow(folderId: string): string[] {
    const isBelow = this.#reach(folderId);
    return [...this.#unreadable].flatMap(([id, { item, parentId }]) =>
      item === "file" && isBelow(parentId) ? [id] : [],
    );
  }

  /** Folders in the folder and in all below it, without itself. */
  foldersBelow(folderId: string): string[] {
    const isBelow = this.#reach(folderId);
    return [...this.folders].flatMap(([id, { parentId }]) => (isBelow(parentId) ? [id] : []));
  }

  /** The first ones that fit behind `after`, best first. `most`: how many at the most. */
  search(filter: NameFilter, after: SortKey | null, most: number): Hit[] {
    const byRank: [Hit[], Hit[], Hit[]] = [[], [], []];
    const fits = this.#conditions(filter);
    for (const file of this.#inOrder()) {
      if (byRank[0].length >= most) break;
      if (!fits(file)) continue;
      const rank = rankName(file.words, filter.words);
      if (rank === null || byRank[rank].length >= most) continue;
      const hit = { rank, made: file.made, id: file.row.id, row: file.row };
      if (after === null || compareSortKeys(hit, after) > 0) byRank[rank].push(hit);
    }
    return byRank.flat().slice(0, most);
  }

  /** The cheap conditions. A word that a name does not hold anywhere cannot be in one of its words. */
  #conditions({ words, query, since, until }: NameFilter): (file: SearchedFile) => boolean {
    const { folderId, by, minSize = 0, maxSize = Number.POSITIVE_INFINITY, trashed = false } = query;
    const isBelow = folderId === undefined ? null : this.#reach(folderId);
    const wantedType = query.type?.toLowerCase();
    const isHalf = wantedType?.endsWith("/") === true;
    return ({ row, made, type, folded }) =>
      (row.trashedAt !== null) === trashed &&
      words.every((word) => folded.includes(word)) &&
      made >= since &&
      made < until &&
      row.size >= minSize &&
      row.size <= maxSize &&
      (wantedType === undefined || (isHalf ? type.startsWith(wantedType) : type === wantedType)) &&
      (by === undefined || [row.createdBy, row.updatedBy].some((each) => isAuthor(authorOf(each), by))) &&
      (isBelow === null || isBelow(row.folderId));
  }

  /** Whether something in that folder is below `root`. Each folder is climbed from once. */
  #reach(root: string): (folderId: string | null) => boolean {
    const cached = new Map<string, boolean>([[root, true]]);
    const isBelow = (folderId: string | null): boolean => {
      if (folderId === null) return false;
      const result = cached.get(folderId);
      if (result !== undefined) return result;
      // Members can sign folders into a ring: a folder on the way up is not below itself.
      cached.set(folderId, false);
      const isParentBelow = isBelow(this.folders.get(folderId)?.parentId ?? null);
      cached.set(folderId, isParentBelow);
      return isParentBelow;
    };
    return isBelow;
  }

  #inOrder(): readonly SearchedFile[] {
    return (this.#ordered ??= Array.from(this.#files.values(), (row) => this.#searchedFile(row)).sort(
      (one, other) => other.made - one.made || (one.row.id < other.row.id ? -1 : 1),
    ));
  }

  #searchedFile(row: NameRow): SearchedFile {
    const before = this.#searched.get(row);
    if (before !== undefined) return before;
    const folded = foldText(row.name);
    const [made, type] = [Date.parse(row.createdAt), bareType(row.contentType)];
    const file = { row, made, type, folded, words: searchWords(folded) };
    this.#searched.set(row, file);
    return file;
  }
}

function authorOf(chainAddress: string | null): { readonly id: null; readonly chainAddress: string | null } {
  return { id: null, chainAddress };
}

/** The verified names of one vault in memory: a table of files, a table of folders, and the search in them. */
import { bareType, foldText, isAuthor, rankName, searchWords } from "@coffer/contract";
import { type FolderRow, type IndexRow, keyOfRow, type NameRow } from "./index-rows.ts";
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

interface IndexedFile {
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
  readonly #unreadable = new Set<string>();
  /** Rows that were changed since they were stored, by kind and id, each with the key that it is stored under. */
  readonly #changed = new Map<
    string,
    { readonly kind: IndexRow["kind"]; readonly id: string; readonly before: string | null }
  >();
  readonly #files = new Map<string, IndexedFile>();
  /** Newest first; null: to be sorted again. */
  #ordered: readonly IndexedFile[] | null = null;

  get folders(): ReadonlyMap<string, FolderRow> {
    return this.#folders;
  }

  /** Ids of files whose names do not verify. */
  get unreadable(): ReadonlySet<string> {
    return this.#unreadable;
  }

  put(row: NameRow): void {
    this.#noteChange("file", row.id);
    this.#noteChange("unreadable", row.id);
    this.#set(row);
  }

  putUnreadable(id: string): void {
    this.remove(id);
    this.#noteChange("unreadable", id);
    this.#unreadable.add(id);
  }

  putFolder(id: string, folder: FolderRow): void {
    this.#noteChange("folder", id);
    this.#folders.set(id, folder);
  }

  removeFolder(id: string): void {
    this.#noteChange("folder", id);
    this.#folders.delete(id);
  }

  /** Puts a row there as it is stored. */
  load(row: IndexRow): void {
    if (row.kind === "file") this.#set(row.file);
    else if (row.kind === "folder") this.#folders.set(row.id, row.folder);
    else this.#unreadable.add(row.id);
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

  #noteChange(kind: IndexRow["kind"], id: string): void {
    const name = `${kind} ${id}`;
    if (this.#changed.has(name)) return;
    const row = this.#find(kind, id);
    this.#changed.set(name, { kind, id, before: row === null ? null : keyOfRow(row) });
  }

  #find(kind: IndexRow["kind"], id: string): IndexRow | null {
    if (kind === "unreadable") return this.#unreadable.has(id) ? { kind, id } : null;
    const [file, folder] = [this.#files.get(id)?.row, this.#folders.get(id)];
    if (kind === "file") return file === undefined ? null : { kind, id, file };
    return folder === undefined ? null : { kind, id, folder };
  }

  #set(row: NameRow): void {
    const folded = foldText(row.name);
    const [made, type] = [Date.parse(row.createdAt), bareType(row.contentType)];
    this.#files.set(row.id, { row, made, type, folded, words: searchWords(folded) });
    this.#unreadable.delete(row.id);
    this.#ordered = null;
  }

  remove(id: string): void {
    this.#noteChange("file", id);
    this.#noteChange("unreadable", id);
    this.#unreadable.delete(id);
    if (this.#files.delete(id)) this.#ordered = null;
  }

  /** Files in the folder and in all below it. */
  below(folderId: string): NameRow[] {
    const isBelow = this.#reach(folderId);
    return [...this.#files.values()].flatMap(({ row }) => (isBelow(row.folderId) ? [row] : []));
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
  #conditions({ words, query, since, until }: NameFilter): (file: IndexedFile) => boolean {
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

  #inOrder(): readonly IndexedFile[] {
    return (this.#ordered ??= [...this.#files.values()].sort(
      (one, other) => other.made - one.made || (one.row.id < other.row.id ? -1 : 1),
    ));
  }
}

function authorOf(chainAddress: string | null): { readonly id: null; readonly chainAddress: string | null } {
  return { id: null, chainAddress };
}

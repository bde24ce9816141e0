/** Sources of matching files, each best first: the local indexes, and searches of the service. */
import { rankName, searchWords } from "@coffer/contract";
import type { CallOptions, Connection } from "../connection/options.ts";
import type { FileSearchQuery } from "./search-types.ts";
import { searchAtService } from "./service-search.ts";
import type { WireFile } from "../storage/file.ts";
import type { FoundFile } from "./search-types.ts";
import type { NameRow } from "./index-rows.ts";
import { FIRST, type ServicePosition } from "./search-cursor.ts";
import { compareSortKeys, type Hit, type NameTable, type SortKey, type NameFilter } from "./name-table.ts";

/** A matching file with its place in the order of all. */
export interface RankedFile extends SortKey {
  readonly file: FoundFile;
}

export interface Source {
  /** The next file, the same until `advance`. null: there is none. `unfinished`: the deadline came first. */
  head(): Promise<RankedFile | null | "unfinished">;
  advance(): void;
}

/** The files that fit in all local indexes together. */
export class LocalSource implements Source {
  readonly #hits: readonly (Hit & { readonly vaultId: string })[];
  #at = 0;
  /** The last one that was passed. */
  position: SortKey | null;

  /** `limit`: of the page. One more shows whether there is a next one. */
  constructor(tables: ReadonlyMap<string, NameTable>, filter: NameFilter, after: SortKey | null, limit: number) {
    const hits = [...tables].flatMap(([vaultId, table]) =>
      table.search(filter, after, limit + 1).map((hit) => ({ ...hit, vaultId })),
    );
    this.#hits = tables.size > 1 ? hits.sort(compareSortKeys) : hits;
    this.position = after;
  }

  head(): Promise<RankedFile | null> {
    const hit = this.#hits[this.#at];
    return Promise.resolve(hit === undefined ? null : { ...sortKeyOf(hit), file: fileOf(hit.row, hit.vaultId) });
  }

  advance(): void {
    const hit = this.#hits[this.#at];
    if (hit !== undefined) this.position = sortKeyOf(hit);
    this.#at += 1;
  }
}

function sortKeyOf({ rank, made, id }: SortKey): SortKey {
  return { rank, made, id };
}

function fileOf({ createdBy, updatedBy, ...row }: NameRow, vaultId: string): FoundFile {
  return { ...row, vaultId, createdBy: verified(createdBy), updatedBy: verified(updatedBy) };
}

function verified(chainAddress: string | null): FoundFile["createdBy"] {
  return chainAddress === null ? null : { kind: "member", id: null, name: null, chainAddress, verified: true };
}

interface ServiceSearch {
  readonly connection: Connection;
  readonly query: Omit<FileSearchQuery, "cursor">;
  readonly deadline: number;
  readonly options: CallOptions;
  /** Whether another source has the files of this vault. */
  readonly isElsewhere: (vaultId: string) => boolean;
}

/** One search of the service. What it returns is compared with the words once more. */
export class ServiceSource implements Source {
  readonly #search: ServiceSearch;
  readonly #words: readonly string[];
  #rows: readonly (RankedFile | null)[] = [];
  #next: string | null = null;
  #isRead = false;
  position: ServicePosition;

  constructor(search: ServiceSearch, position: ServicePosition = FIRST) {
    this.#search = search;
    this.#words = searchWords(search.query.q ?? "");
    this.position = position;
  }

  async head(): Promise<RankedFile | null | "unfinished"> {
    for (let isFirst = true; !this.position.isDone; isFirst = false) {
      if (this.#isRead) {
        this.#skip();
        const file = this.#rows[this.position.returned];
        if (file != null) return file;
        this.position = { cursor: this.#next, last: null, returned: 0, isDone: this.#next === null };
        this.#isRead = false;
        continue;
      }
      if (!isFirst && this.#search.connection.clock.now() >= this.#search.deadline) return "unfinished";
      await this.#read();
    }
    return null;
  }

  advance(): void {
    const last = this.#rows[this.position.returned]?.file.id ?? null;
    this.position = { ...this.position, last, returned: this.position.returned + 1 };
  }

  /** Nothing more comes from here. */
  end(): void {
    this.position = { ...FIRST, isDone: true };
  }

  /** Passes rows that do not match. */
  #skip(): void {
    while (this.position.returned < this.#rows.length && this.#rows[this.position.returned] === null)
      this.position = { ...this.position, returned: this.position.returned + 1 };
  }

  async #read(): Promise<void> {
    const { connection, query, options } = this.#search;
    const { cursor, last, returned } = this.position;
    const page = await searchAtService(connection, { ...query, ...(cursor === null ? {} : { cursor }) }, options);
    this.#rows = page.files.map((file) => this.#rankedFile(file));
    this.#next = page.nextCursor;
    this.#isRead = true;
    // New files may have come before the one that was returned last.
    const at = last === null ? -1 : page.files.findIndex(({ id }) => id === last);
    this.position = { ...this.position, returned: at === -1 ? returned : at + 1 };
  }

  #rankedFile(file: WireFile): RankedFile | null {
    const rank = file.unreadable === undefined ? rankName(searchWords(file.name), this.#words) : null;
    const { vaultId } = this.#search.query;
    if (rank === null || (vaultId ?? file.vaultId) !== file.vaultId || this.#search.isElsewhere(file.vaultId))
      return null;
    const { id, versionId, revision, name, contentType, size, folderId, createdAt, updatedAt, trashedAt } = file;
    const facts = { id, versionId, revision, name, contentType, size, folderId, createdAt, updatedAt, trashedAt };
    const { createdBy, updatedBy } = file as unknown as Pick<FoundFile, "createdBy" | "updatedBy">;
    return { rank, made: Date.parse(createdAt), id, file: { ...facts, vaultId: file.vaultId, createdBy, updatedBy } };
  }
}

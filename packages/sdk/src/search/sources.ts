/** Where found files come from, each best first: the local indexes, and searches of the service. */
import { rankName, searchWords } from "@coffer/contract";
import type { CallOptions, Connection } from "../connection/options.ts";
import type { FileSearchQuery } from "./search-types.ts";
import { searchAtService } from "./service-search.ts";
import type { File } from "../storage/file.ts";
import type { FoundFile } from "./search-types.ts";
import { FIRST, type ServicePlace } from "./cursor.ts";
import { comparePlaces, type Hit, type NameRow, type NameTable, type Place, type Wanted } from "./name-table.ts";

/** A found file with its place among all. */
export interface Found extends Place {
  readonly file: FoundFile;
}

export interface Source {
  /** The next file, which stays until it is taken. null: there is none. `unfinished`: the deadline came first. */
  head(): Promise<Found | null | "unfinished">;
  take(): void;
}

/** The files that fit in all local indexes together. */
export class LocalSource implements Source {
  readonly #hits: readonly (Hit & { readonly vaultId: string })[];
  #at = 0;
  /** The last one that was taken. */
  place: Place | null;

  /** `limit`: of the page. One more shows whether there is a next one. */
  constructor(tables: ReadonlyMap<string, NameTable>, wanted: Wanted, after: Place | null, limit: number) {
    const hits = [...tables].flatMap(([vaultId, table]) =>
      table.search(wanted, after, limit + 1).map((hit) => ({ ...hit, vaultId })),
    );
    this.#hits = tables.size > 1 ? hits.sort(comparePlaces) : hits;
    this.place = after;
  }

  head(): Promise<Found | null> {
    const hit = this.#hits[this.#at];
    return Promise.resolve(hit === undefined ? null : { ...placeOf(hit), file: fileOf(hit.row, hit.vaultId) });
  }

  take(): void {
    const hit = this.#hits[this.#at];
    if (hit !== undefined) this.place = placeOf(hit);
    this.#at += 1;
  }
}

function placeOf({ rank, made, id }: Place): Place {
  return { rank, made, id };
}

function fileOf({ createdBy, updatedBy, ...row }: NameRow, vaultId: string): FoundFile {
  return { ...row, vaultId, createdBy: verified(createdBy), updatedBy: verified(updatedBy) };
}

function verified(chainAddress: string | null): FoundFile["createdBy"] {
  return chainAddress === null ? null : { kind: "member", id: null, name: null, chainAddress, verified: true };
}

interface Asking {
  readonly connection: Connection;
  readonly query: FileSearchQuery;
  readonly deadline: number;
  readonly options: CallOptions;
  /** Whether another source has the files of this vault. */
  readonly isElsewhere: (vaultId: string) => boolean;
}

/** One search of the service. What it answers is compared with the words once more. */
export class ServiceSource implements Source {
  readonly #asking: Asking;
  readonly #words: readonly string[];
  #rows: readonly (Found | null)[] = [];
  #next: string | null = null;
  #isRead = false;
  place: ServicePlace;

  constructor(asking: Asking, place: ServicePlace = FIRST) {
    this.#asking = asking;
    this.#words = searchWords(asking.query.q ?? "");
    this.place = place;
  }

  async head(): Promise<Found | null | "unfinished"> {
    for (let isFirst = true; !this.place.isDone; isFirst = false) {
      if (this.#isRead) {
        this.#skip();
        const found = this.#rows[this.place.taken];
        if (found != null) return found;
        this.place = { cursor: this.#next, last: null, taken: 0, isDone: this.#next === null };
        this.#isRead = false;
        continue;
      }
      if (!isFirst && this.#asking.connection.clock.now() >= this.#asking.deadline) return "unfinished";
      await this.#read();
    }
    return null;
  }

  take(): void {
    const last = this.#rows[this.place.taken]?.file.id ?? null;
    this.place = { ...this.place, last, taken: this.place.taken + 1 };
  }

  /** Nothing more comes from here. */
  end(): void {
    this.place = { ...FIRST, isDone: true };
  }

  /** Behind rows that are no answers. */
  #skip(): void {
    while (this.place.taken < this.#rows.length && this.#rows[this.place.taken] === null)
      this.place = { ...this.place, taken: this.place.taken + 1 };
  }

  async #read(): Promise<void> {
    const { connection, query, options } = this.#asking;
    const { cursor, last, taken } = this.place;
    const page = await searchAtService(connection, { ...query, ...(cursor === null ? {} : { cursor }) }, options);
    this.#rows = page.files.map((file) => this.#found(file));
    this.#next = page.nextCursor;
    this.#isRead = true;
    // New files may have come before the one that was given out last.
    const at = last === null ? -1 : page.files.findIndex(({ id }) => id === last);
    this.place = { ...this.place, taken: at === -1 ? taken : at + 1 };
  }

  #found(file: File): Found | null {
    const rank = file.unreadable === undefined ? rankName(searchWords(file.name), this.#words) : null;
    const { vaultId } = this.#asking.query;
    if (rank === null || (vaultId ?? file.vaultId) !== file.vaultId || this.#asking.isElsewhere(file.vaultId))
      return null;
    const { id, versionId, revision, name, contentType, size, folderId, createdAt, updatedAt, trashedAt } = file;
    const facts = { id, versionId, revision, name, contentType, size, folderId, createdAt, updatedAt, trashedAt };
    const { createdBy, updatedBy } = file as unknown as Pick<FoundFile, "createdBy" | "updatedBy">;
    return { rank, made: Date.parse(createdAt), id, file: { ...facts, vaultId: file.vaultId, createdBy, updatedBy } };
  }
}

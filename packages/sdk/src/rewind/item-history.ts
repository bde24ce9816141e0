/** The names, places and contents that a file or folder had, and which of them the actor made. */
import { iterate } from "../http/byte-body.ts";
import { createHasher, toHex } from "../transfer/digest.ts";
import { openFileDownload } from "../transfer/download.ts";
import { everyPage, MAX_PAGES_IN_MEMORY, type PageCursor } from "../http/every-page.ts";
import type { Connection } from "../connection/options.ts";
import { fileResource } from "../storage/files.ts";
import { folderResource } from "../storage/folders.ts";
import type { FileEntry, FileVersion, FolderEntry } from "../storage/item-types.ts";
import type { PlanScope, TouchedItem } from "./actor-history.ts";
import type { PastState } from "./verdict.ts";
import type { NamePlace } from "./report.ts";

type Entry = FileEntry | FolderEntry;

/** A version, and whether this caller made it by writing an earlier one again. */
export interface Content {
  readonly version: FileVersion;
  readonly isOwnRestore: boolean;
}

/** Nothing that is kept shows who did it. */
const UNVERIFIED = "unverified";

/** While two names change places, one of them is this. */
export const temporaryName = (id: string): string => `.rewind-${id}`;

export class ItemHistory {
  readonly #connection: Connection;
  readonly #touched: TouchedItem;
  readonly #actor: PlanScope["actor"];
  readonly #call: PlanScope["call"];
  readonly #isShared: boolean;
  #names: Promise<PastState<NamePlace>[]> | null = null;
  #contents: Promise<PastState<Content>[]> | null = null;

  constructor(connection: Connection, touched: TouchedItem, { actor, call }: PlanScope, isShared: boolean) {
    this.#connection = connection;
    this.#touched = touched;
    this.#actor = actor;
    this.#call = call;
    this.#isShared = isShared;
  }

  /** Newest first. */
  names(): Promise<PastState<NamePlace>[]> {
    this.#names ??= this.#readNames();
    return this.#names;
  }

  /** Newest first. None of a folder. */
  contents(): Promise<PastState<Content>[]> {
    this.#contents ??= this.#touched.kind === "file" ? this.#readContents() : Promise.resolve([]);
    return this.#contents;
  }

  /** Whether anything that is there was signed by the actor in that time. */
  async hasActs(): Promise<boolean> {
    return [...(await this.names()), ...(await this.contents())].some(({ isMine }) => isMine);
  }

  /** Why the actor may not have made it, or not alone: by what members signed, whatever the service says. null: it did. */
  async doubtOfCreation(): Promise<string | null> {
    const [contents, names] = [await this.contents(), await this.names()];
    const unreadable = [...contents, ...names].find(
      (state) => state.unreadable !== null && state.unreadable !== UNVERIFIED,
    );
    if (unreadable !== undefined) return unreadable.unreadable;
    const first = contents.at(-1) ?? names.at(-1);
    if (first?.isMine !== true || first.number !== 1) return UNVERIFIED;
    const isAlone = [...contents, ...names].every((state) => state.isMine || state.unreadable === UNVERIFIED);
    return isAlone ? null : "changed_since";
  }

  /**
   * Encrypted again, the same content has another digest. The caller's own restored version is of the one other version
   * that has its size and type. If there may be more of them, only their bytes tell. A service that calls it restored
   * falsely gains nothing: the newest state is the caller's, and stays.
   */
  readonly isSameContent = async ({ version: was }: Content, { version: is, isOwnRestore }: Content) => {
    if (was.contentType !== is.contentType) return false;
    if (!this.#isShared) return was.sha256 === is.sha256;
    if (!isOwnRestore || was.size !== is.size) return false;
    return (await this.#hasOneSource(is)) || (await this.#digest(was)) === (await this.#digest(is));
  };

  /** Whether the newest version can have been made of one other version alone: all are kept, and verify. */
  async #hasOneSource({ number, size, contentType }: FileVersion): Promise<boolean> {
    const [, ...others] = await this.contents();
    const isWhole = others.length === number - 1 && others.every(({ unreadable }) => unreadable === null);
    const sources = others.filter(
      ({ state: { version } }) => version.size === size && version.contentType === contentType,
    );
    return isWhole && sources.length === 1;
  }

  async #digest({ versionId }: FileVersion): Promise<string> {
    const { stream } = await openFileDownload(this.#connection, this.#touched.id, { versionId, ...this.#call });
    const hasher = await createHasher();
    const chunks = iterate(stream);
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) hasher.update(next.value);
    return toHex(hasher.digest());
  }

  async #readNames(): Promise<PastState<NamePlace>[]> {
    const { kind, id } = this.#touched;
    const calls = kind === "file" ? fileResource(this.#connection) : folderResource(this.#connection);
    const entries: Entry[] = [];
    const load = (place: PageCursor): PromiseLike<{ entries: readonly Entry[]; nextCursor: string | null }> =>
      calls.entries(id, { limit: 1000, ...place }, this.#call);
    for await (const page of everyPage(`${kind}s.entries`, load, MAX_PAGES_IN_MEMORY)) entries.push(...page.entries);
    const states: PastState<NamePlace>[] = [];
    let last: Entry | undefined;
    for (const entry of entries.reverse()) {
      const state = { name: entry.name, parentId: "folderId" in entry ? entry.folderId : entry.parentId };
      const before = states.at(-1);
      // What is left out closes no gap: a name in between, and new content under the same name, which is an entry too.
      const gap = last === undefined ? entry.number - 1 : entry.number - last.number - 1;
      last = entry;
      const unreadable = entry.unreadable ?? this.#doubtOf(entry);
      const isRepeated = unreadable === null && (state.name === temporaryName(id) || isUnchanged(before, state));
      if (isRepeated && gap === 0) continue;
      const isMine = this.#actor.made(entry.author, entry.createdAt);
      states.push({ number: (before?.number ?? 0) + gap + 1, isMine, state, unreadable });
    }
    return states.reverse();
  }

  /** The author of a name in a shared vault is not known any more once a member has written content under it. */
  #doubtOf({ author, createdAt }: Entry): string | null {
    return this.#isShared && author === null && this.#actor.isThen(createdAt) ? UNVERIFIED : null;
  }

  async #readContents(): Promise<PastState<Content>[]> {
    const { id } = this.#touched;
    const versions: FileVersion[] = [];
    const load = (place: PageCursor) =>
      fileResource(this.#connection).versions(id, { limit: 100, ...place }, this.#call);
    for await (const page of everyPage("files.versions", load, MAX_PAGES_IN_MEMORY)) versions.push(...page.versions);
    const own = this.#connection.sharedVaults?.signer.chainAddress;
    return versions.map((version) => {
      const { author, how, number } = version;
      const isOwnRestore = how === "restore" && author !== null && author.chainAddress === own;
      const isMine = this.#actor.made(author, version.createdAt);
      return { number, isMine, unreadable: version.unreadable ?? null, state: { version, isOwnRestore } };
    });
  }
}

function isUnchanged(before: PastState<NamePlace> | undefined, { name, parentId }: NamePlace): boolean {
  return before?.unreadable === null && before.state.name === name && before.state.parentId === parentId;
}

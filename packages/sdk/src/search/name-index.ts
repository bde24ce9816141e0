/**
 * The local index of one shared vault: built from the vault's lists, kept true by the change feed. A name enters it
 * only after this client has verified it. So the service can leave names out, and can make up none.
 */
import { filesGroup, foldersGroup } from "@coffer/contract";
import { comparePlaces, isMemberIn, placeOf } from "@coffer/crypto";
import { callOn } from "../http/call.ts";
import { isAnswered } from "../http/errors.ts";
import type { CallOptions, Connection } from "../connection/options.ts";
import { FILES, FOLDERS } from "../storage/items.ts";
import { bytesOf } from "../shared-vaults/addresses.ts";
import type { OpenVault } from "../shared-vaults/open-vault.ts";
import { vaultError } from "../shared-vaults/vault-error.ts";
import { vaultRegistry } from "../shared-vaults/client-vaults.ts";
import { applyChanges, presentCursor } from "./index-changes.ts";
import type { BuildProgress, IndexProgress } from "./index-text.ts";
import { NameTable } from "./name-table.ts";
import { indexItems, type IndexTarget } from "./index-items.ts";
import { type IndexHead, type IndexKey, StoredIndex, withoutRows } from "./stored-index.ts";

const PAGE_LIMIT = 1000;
/** Items read again after which they are written. A run after a crash asks the feed for fewer than that once more. */
const UNSAVED_LIMIT = 64;
/** Listed items after which a build that goes on is written, so that a crash costs no more. */
const BUILD_SAVE_LIMIT = 20_000;

/** The step after each list of a build. Folders come first, those in the trash after the others. */
function stepAfter({ kind, trashed }: BuildProgress): BuildProgress | null {
  if (!trashed) return { kind, trashed: true, cursor: null };
  return kind === "folder" ? { kind: "file", trashed: false, cursor: null } : null;
}

/** Verified names. */
export interface IndexedNames {
  readonly table: NameTable;
  /** When the walk through the vault's lists began that they come from: milliseconds since 1970. */
  readonly listedAt: number;
}

interface IndexState extends IndexProgress, IndexedNames {}

export interface IndexReadOptions {
  /** How long a read may go on, by the connection's clock. It takes one step at least. */
  readonly deadline: number;
  readonly options: CallOptions;
  /**
   * An index whose walk through the lists began before that time is built anew: milliseconds since 1970. It shows what the
   * change feed left out. Default: a walk of any time will do.
   */
  readonly listedSince?: number;
  /** Builds none that is not whole yet. Default: false. */
  readonly onlyBuilt?: boolean;
  /** Also writes a few changes: the process may end with this call. Default: they wait until they are worth a write. */
  readonly writesAll?: boolean;
}

export class NameIndex {
  readonly #connection: Connection;
  readonly #vaultId: string;
  #state: IndexState | null = null;
  #key: IndexKey | null = null;
  /** As it is in the store; null: it is not. */
  #stored: IndexHead | null = null;
  #unsaved = 0;
  /** One update at a time. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(connection: Connection, vaultId: string) {
    this.#connection = connection;
    this.#vaultId = vaultId;
  }

  /**
   * The names as they are now. null: not all were looked at before the deadline, and the next call goes on, also in
   * another process.
   */
  async read(vault: OpenVault, limits: IndexReadOptions): Promise<IndexedNames | null> {
    const turn = this.#turn.catch(() => undefined).then(() => this.#update(vault, limits));
    this.#turn = turn;
    return turn;
  }

  async delete(): Promise<void> {
    this.#state = null;
    this.#stored = null;
    await this.#connection.sharedVaults?.names?.delete(this.#vaultId);
  }

  async #update(vault: OpenVault, limits: IndexReadOptions): Promise<IndexedNames | null> {
    await requireMember(this.#connection, vault);
    let state = (this.#state ??= await this.#load(vault, limits.options));
    if (limits.onlyBuilt === true && state.building !== null) return null;
    try {
      const isPast = () => this.#connection.clock.now() >= limits.deadline;
      // One that is of the future says nothing of its age.
      const { listedSince = Number.NEGATIVE_INFINITY } = limits;
      if (state.listedAt < listedSince || state.listedAt > Math.max(listedSince, Date.now()))
        this.#state = state = await this.#rebuild(limits.options);
      for (let isFirst = true; ; isFirst = false) {
        if (!isFirst && isPast()) return null;
        if (state.building !== null) {
          this.#state = state = await this.#listPage(state, state.building, limits.options);
          if (this.#unsaved >= BUILD_SAVE_LIMIT && !(await this.#save(vault, state)))
            this.#state = state = await this.#load(vault, limits.options);
          continue;
        }
        const applied = await applyChanges(this.#target(state), state.changes, limits.options);
        if (applied === null) {
          this.#state = state = await this.#rebuild(limits.options);
          continue;
        }
        this.#count(applied.items, applied.key);
        this.#state = state = { ...state, changes: applied.cursor };
        if (applied.items === 0) return state;
      }
    } catch (error) {
      if (!isOutdated(error, state)) throw error;
      // The feed no longer reaches back so far, or the service forgot the list: all is looked at again.
      this.#state = state = await this.#rebuild(limits.options);
      return null;
    } finally {
      const isDue = this.#unsaved >= (state.building === null && limits.writesAll !== true ? UNSAVED_LIMIT : 1);
      // Another process has written: the next call goes on from there.
      if (isDue && !(await this.#save(vault, state))) this.#state = null;
    }
  }

  /** One page of the lists. */
  async #listPage(state: IndexState, step: BuildProgress, options: CallOptions): Promise<IndexState> {
    const { kind, trashed, cursor } = step;
    const from = cursor === null ? {} : { cursor };
    const query = { vaultId: this.#vaultId, trashed, limit: PAGE_LIMIT, ...from };
    const target = this.#target(state);
    let next: string | null;
    if (kind === "file") {
      const page = await callOn(this.#connection, filesGroup.list, { query }, { ...options, eachByItself: true });
      this.#count(1 + page.files.length, await indexItems(target, FILES, page.files, options));
      next = page.nextCursor;
    } else {
      const page = await callOn(this.#connection, foldersGroup.list, { query }, { ...options, eachByItself: true });
      this.#count(1 + page.folders.length, await indexItems(target, FOLDERS, page.folders, options));
      next = page.nextCursor;
    }
    const building = next === null ? stepAfter(step) : { ...step, cursor: next };
    // From here on few changes wait for long: the whole is written once.
    if (building === null) this.#unsaved += UNSAVED_LIMIT;
    return { ...state, building };
  }

  async #load(vault: OpenVault, options: CallOptions): Promise<IndexState> {
    const store = this.#connection.sharedVaults?.names;
    const stored = store === undefined ? null : await new StoredIndex(vault, store).load();
    this.#stored = stored?.head ?? null;
    this.#key = stored?.head.key ?? null;
    this.#unsaved = 0;
    if (stored === null) return this.#startBuild(options);
    const { changes, building, listedAt } = stored.head;
    return { table: stored.table, changes, building, listedAt };
  }

  async #rebuild(options: CallOptions): Promise<IndexState> {
    const state = await this.#startBuild(options);
    this.#stored = this.#stored === null ? null : withoutRows(this.#stored);
    return state;
  }

  /** What changes from here on is in the feed, whatever the lists show of it. */
  async #startBuild(options: CallOptions): Promise<IndexState> {
    const table = new NameTable();
    const listedAt = Date.now();
    const changes = await presentCursor({ connection: this.#connection, vaultId: this.#vaultId, table }, options);
    return { table, changes, listedAt, building: { kind: "folder", trashed: false, cursor: null } };
  }

  #target({ table }: IndexState): IndexTarget {
    return { connection: this.#connection, vaultId: this.#vaultId, table };
  }

  /** The index is encrypted under the newest key that an entry of it names. */
  #count(items: number, key: IndexKey | null): void {
    this.#unsaved += items;
    if (key !== null && (this.#key === null || comparePlaces(key, this.#key) > 0)) this.#key = key;
  }

  /** False: another process has written meanwhile. Without a key nothing was verified yet, and there is nothing to keep. */
  async #save(vault: OpenVault, { table, changes, building, listedAt }: IndexState): Promise<boolean> {
    const store = this.#connection.sharedVaults?.names;
    this.#unsaved = 0;
    if (store !== undefined && this.#key !== null) {
      const update = { changes, building, listedAt, key: this.#key, rows: table.updates() };
      const head = await new StoredIndex(vault, store).write(this.#stored, update);
      if (head === null) return false;
      this.#stored = head;
    }
    if (store === undefined || this.#key !== null) table.markStored();
    return true;
  }
}

/** By the chain, whatever the service says. @throws VaultError `not_a_member`. */
async function requireMember(connection: Connection, vault: OpenVault): Promise<void> {
  const view = await vault.view();
  const { chainAddress } = vaultRegistry(connection).signer;
  if (!isMemberIn(view, bytesOf(chainAddress), placeOf(view)))
    throw vaultError("not_a_member", `The vault's allowlist does not name ${chainAddress}`);
}

function isOutdated(error: unknown, { building }: IndexState): boolean {
  if (!isAnswered(error)) return false;
  return error.code === "cursor_expired" || (error.code === "validation_failed" && building?.cursor != null);
}

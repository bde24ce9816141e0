/** Encrypting everything of a shared vault again, under keys that removed members never had (encryption design §2, rotate). */
import { type ActWarning, raiseFloor, renew, warningsAbout } from "@coffer/chain";
import type { VaultView } from "@coffer/crypto";
import { SdkError } from "../../http/errors.ts";
import type { WireFile } from "../../storage/file.ts";
import type { Connection } from "../../connection/options.ts";
import { FILES, FOLDERS, type Item, type Items } from "../../storage/items.ts";
import { renewEntry } from "../names/item-changes.ts";
import { transactionSigner } from "../create-vault.ts";
import { NOT_ROTATED, ROTATED } from "../effect-texts.ts";
import type { OpenVault } from "../open-vault.ts";
import { clearContent, renewContent } from "./rotate-content.ts";
import {
  findOutdated,
  isOutdatedVersion,
  outdatedFiles,
  outdatedFolders,
  type OutdatedNames,
} from "./outdated-items.ts";
import { stageFolder } from "../names/name-stager.ts";
import { vaultError } from "../vault-error.ts";
import { inVaultTerms, toVaultError } from "../vault-terms.ts";
import { requireOpenVault, vaultRegistry } from "../client-vaults.ts";

/** How far a rotation has come. */
export interface RotationProgress {
  /** Contents that were encrypted again. */
  readonly files: number;
  /** Folders whose own names were encrypted again. */
  readonly folders: number;
  /** Items with nothing left below the generation, of `total` that were below it. */
  readonly done: number;
  /** Items that were below it. */
  readonly total: number;
}

/** An item that could not be encrypted again. */
export interface NotRotated {
  /** What `id` names. */
  readonly kind: "file" | "folder";
  /** null: the names of the vault's top. */
  readonly id: string | null;
  /** A code of {@link VaultErrorCode} or of the error catalogue. */
  readonly code: string;
  /** Why, in one sentence. */
  readonly message: string;
}

/** What a rotation has done. */
export interface RotationResult {
  /** Contents that were encrypted again. */
  readonly files: number;
  /** Folders whose own names were encrypted again. */
  readonly folders: number;
  /** Everything that is not in `failed` is of this generation or a later one. */
  readonly generation: number;
  /** The vault's floor afterwards: no reader accepts anything of an earlier generation. */
  readonly floor: number;
  /** The floor stays while this list is not empty. */
  readonly failed: readonly NotRotated[];
  /** What this has ended, and what it has not, in words for people. */
  readonly effect: string;
  /** Remarks about the act or the vault; empty if there are none. */
  readonly warnings: readonly ActWarning[];
}

/** For a rotation. */
export interface RotationOptions {
  /** Ends the call when it aborts; the next call goes on. Default: it runs to its end. */
  readonly signal?: AbortSignal | undefined;
  /** Size of the parts in which larger files are sent, in bytes: the memory that one takes. Default: 16 MiB. */
  readonly partBytes?: number | undefined;
  /** Called after each item. Default: no function. */
  readonly onProgress?: ((progress: RotationProgress) => void) | undefined;
}

/** Files of up to {@link SMALL_BYTES} that are on their way at once; larger ones go one by one. */
const LANES = 3;
const SMALL_BYTES = 1024 * 1024;
/** How often it reads the vault while others write into it. */
const ROUNDS = 4;

/**
 * Begins a new generation, whose keys lead to no earlier ones. It reads every version and every name below it, in the
 * trash too, and verifies it. It stores each again under new keys, on the condition that it is still current. Readers
 * and writers go on meanwhile. What it replaces stays as versions, as with every new content (decision 0059). So it
 * needs as much free storage as it encrypts again. After a crash at any point everything is readable, and the next call does the rest, without another generation. A file of several parts goes on
 * with the parts that the service has, if the client keeps unfinished uploads. Otherwise it begins again. At the end
 * the owner raises the vault's floor, so that no reader accepts anything older.
 *
 * What it does: people whose access was removed or ended may have kept the vault keys of their time. They cannot open
 * what the service serves from then on. Readers accept nothing more that was signed in those generations. A key of a
 * later time that leaks opens no earlier copy. What it does not do: take back their copies. Replaced blobs are gone
 * after their days only if the service deletes them. It costs one download and one upload of everything old.
 *
 * A member who is not the owner encrypts under the present generation. `failed` then lists what only the owner reaches
 * (the trash), and the floor stays.
 * @throws VaultError, ApiError for failures that a repeat may cure; items that cannot be read at all are in `failed`.
 */
export async function rotateVault(
  connection: Connection,
  vaultId: string,
  options: RotationOptions = {},
): Promise<RotationResult> {
  const vault = await requireOpenVault(connection, vaultId, { signal: options.signal });
  const startWarnings = await inVaultTerms(() => startRotation(connection, vault));
  const rotation = new Rotation(connection, underOwnKeys(vault), options);
  const generation = await rotation.run();
  const { files, folders } = rotation.progress;
  const failed = [...rotation.failed.values()];
  const settled = await inVaultTerms(() => settleFloor(connection, vault, failed.length === 0 ? generation : null));
  const { floor } = settled;
  // How full the vault is, its last state says.
  const earlier = startWarnings.filter(
    ({ code }) => code === "valid_one_epoch" && !settled.warnings.some((one) => one.code === code),
  );
  const warnings = [...earlier, ...settled.warnings];
  return {
    files,
    folders,
    generation: Number(generation),
    floor,
    failed,
    effect: floor >= generation ? ROTATED : NOT_ROTATED,
    warnings,
  };
}

/**
 * Raises the generation, so that no key of it leads to an earlier one. A rotation that is under way goes on in the
 * generation that it began.
 */
async function startRotation(connection: Connection, vault: OpenVault): Promise<readonly ActWarning[]> {
  const { chain, signer } = vaultRegistry(connection);
  const objectId = vault.pin.chainObjectId ?? "";
  const { owner, generation, base, floor } = await chain.readVault(objectId, { maxAge: 0 });
  const isUnderWay = generation === base && floor < base;
  if (owner.chainAddress !== signer.chainAddress || isUnderWay) return [];
  return (await renew(chain, transactionSigner(signer), { objectId, base })).warnings;
}

/** Raises the floor if it may, and returns it. */
async function settleFloor(
  connection: Connection,
  vault: OpenVault,
  floor: bigint | null,
): Promise<Pick<RotationResult, "floor" | "warnings">> {
  const { chain, signer } = vaultRegistry(connection);
  const objectId = vault.pin.chainObjectId ?? "";
  const object = await chain.readVault(objectId, { maxAge: 0 });
  if (floor === null || object.owner.chainAddress !== signer.chainAddress)
    return { floor: Number(object.floor), warnings: warningsAbout(object) };
  const { vault: raised, warnings } = await raiseFloor(chain, transactionSigner(signer), { objectId, floor });
  return { floor: Number(raised.floor), warnings };
}

/** What a rotation writes is for no key that somebody else chose: a service and a node that lie could have made its maker up. */
function underOwnKeys(vault: OpenVault): OpenVault {
  return { ...vault, writingKey: (view) => vault.writingKey(view, "rotation") };
}

class Rotation {
  readonly failed = new Map<string, NotRotated>();
  progress: RotationProgress = { files: 0, folders: 0, done: 0, total: 0 };
  readonly #connection: Connection;
  readonly #vault: OpenVault;
  readonly #signal: AbortSignal | undefined;
  readonly #options: RotationOptions;
  /** Attempts that changed something, or met a change: another round makes sense. */
  #moves = 0;

  constructor(connection: Connection, vault: OpenVault, options: RotationOptions) {
    this.#connection = connection;
    this.#vault = vault;
    this.#signal = options.signal;
    this.#options = options;
  }

  /** Returns the generation below which only failed items are left. */
  async run(): Promise<bigint> {
    for (let round = 0; round < ROUNDS; round += 1) {
      this.#signal?.throwIfAborted();
      const view = await this.#vault.view({ maxAge: 0 });
      // A key of this generation at the service means that it has seen the generation, and accepts nothing older from
      // then on. It is this client's own, before the first item.
      await this.#vault.writingKey(view, "rotation");
      const outdated = await findOutdated(this.#connection, this.#vault, view, this.#signal);
      this.#reportProgress({ total: this.progress.done + outdated.total });
      if (outdated.total === 0) {
        await clearContent(this.#connection, this.#vault);
        return view.generation;
      }
      const before = this.#moves;
      for (const [folderId, names] of outdated.places) await this.#stage(folderId, names);
      await this.#renewFolders(view);
      await this.#renewFiles(view);
      if (this.#moves === before && this.failed.size > 0) return view.generation;
    }
    throw vaultError("generation_moved", "The vault kept changing while it was rotated");
  }

  /** All names of a folder at once, because one key finds them. */
  async #stage(folderId: string | null, { folders, items }: OutdatedNames): Promise<void> {
    this.#signal?.throwIfAborted();
    const done = await this.#attempt("folder", folderId, `names of ${folderId ?? "the top"}`, async () => {
      await inVaultTerms(() => stageFolder(this.#connection, this.#vault, folderId));
    });
    if (done) this.#reportProgress({ folders: this.progress.folders + folders, done: this.progress.done + items });
  }

  /** Folders in the trash; where names are plain, all folders. */
  async #renewFolders(view: VaultView): Promise<void> {
    for await (const folder of outdatedFolders(this.#connection, this.#vault, view, this.#signal)) {
      const done = await this.#attempt("folder", folder.id, folder.id, () => this.#renewEntry(FOLDERS, folder.id));
      if (done) this.#reportProgress({ folders: this.progress.folders + 1, done: this.progress.done + 1 });
    }
  }

  async #renewFiles(view: VaultView): Promise<void> {
    const running = new Set<Promise<void>>();
    const failures: unknown[] = [];
    try {
      for await (const file of outdatedFiles(this.#connection, this.#vault, view, this.#signal)) {
        const most = file.size > SMALL_BYTES ? 1 : LANES;
        while (running.size >= most) await Promise.race(running);
        if (failures.length > 0) break;
        const work = this.#attemptFile(file, view).catch((error: unknown) => void failures.push(error));
        const lane = work.finally(() => running.delete(lane));
        running.add(lane);
        if (most === 1) await lane;
      }
    } finally {
      // Also if the list fails: nothing is written after the rotation has ended.
      await Promise.all(running);
    }
    if (failures.length > 0) throw failures[0];
  }

  async #attemptFile(file: WireFile, view: VaultView): Promise<void> {
    const isContent = isOutdatedVersion(file, view);
    const done = await this.#attempt("file", file.id, file.id, () =>
      isContent ? this.#renewContent(file) : this.#renewEntry(FILES, file.id),
    );
    if (done) this.#reportProgress({ files: this.progress.files + (isContent ? 1 : 0), done: this.progress.done + 1 });
  }

  async #renewEntry<Kind extends Item>(items: Items<Kind>, id: string): Promise<void> {
    await renewEntry(this.#connection, this.#vault, items, id, { signal: this.#signal });
  }

  #renewContent(file: WireFile): Promise<void> {
    const { partBytes } = this.#options;
    return renewContent(this.#connection, this.#vault, file, { signal: this.#signal, partBytes });
  }

  /**
   * Whether it is done. False: it cannot be read, or the caller has no right to it. It notes that and goes on with the
   * rotation.
   */
  async #attempt(
    kind: NotRotated["kind"],
    id: string | null,
    place: string,
    work: () => Promise<void>,
  ): Promise<boolean> {
    if (this.failed.has(place)) return false;
    try {
      await work();
      this.#moves += 1;
      return true;
    } catch (error) {
      const failure = toVaultError(error);
      if (!(failure instanceof SdkError)) throw failure;
      const { code, message } = failure;
      if (CHANGED.has(code)) {
        this.#moves += 1;
        return false;
      }
      if (!LASTING.has(code)) throw failure;
      this.failed.set(place, { kind, id, code, message });
      return false;
    }
  }

  #reportProgress(change: Partial<RotationProgress>): void {
    this.progress = { ...this.progress, ...change };
    this.#options.onProgress?.(this.progress);
  }
}

/** Somebody else has changed or deleted it meanwhile: the next round reads its present state. */
const CHANGED: ReadonlySet<string> = new Set(["not_found", "precondition_failed", "statement_invalid"]);

/** Failures that another try does not cure. */
const LASTING: ReadonlySet<string> = new Set([
  ...["damaged", "wrong_key", "not_encrypted", "rolled_back", "unsupported_version", "unsupported_suite"],
  ...["integrity_failed", "trashed", "source_changed", "name_exists"],
]);

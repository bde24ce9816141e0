/** Commits in shared vaults: contents are encrypted, names and places are signed, and all of it is of one place of the vault. */
import { fileCommitGroup, type SharedEntry } from "@coffer/contract";
import { parseEntryStatement, type Metadata } from "@coffer/crypto";
import type { Connection } from "../../connection/options.ts";
import { chosenName } from "../../http/chosen-name.ts";
import { inLanes } from "../../http/concurrency.ts";
import { type SdkError } from "../../http/errors.ts";
import { FILES } from "../../storage/items.ts";
import type { WireFile } from "../../storage/file.ts";
import { fromBase64, toHex } from "../../transfer/digest.ts";
import {
  aboutItem,
  type CommitItem,
  type CommitKind,
  type CommittedFile,
  type FileCommitOptions,
  type OpenChange,
  type PreparedChange,
  type SentChange,
  withCurrentTag,
} from "../../transfer/commit-changes.ts";
import type { Source } from "../../transfer/source.ts";
import { Condition, tagOf } from "../condition.ts";
import { makeEntry, recordOwnEntry, openItem, ownStatement, placeOf } from "../names/entries.ts";
import { isEntryStored } from "../names/entry-history.ts";
import { openLatest } from "../names/latest-item.ts";
import { nameOne } from "../names/name-reader.ts";
import { stageFolder, type StagedEntries } from "../names/name-stager.ts";
import { refreshFor } from "../names/refresh.ts";
import { findPlace, findVaultOf } from "../names/vault-finder.ts";
import type { OpenVault } from "../open-vault.ts";
import { vaultError } from "../vault-error.ts";
import { inVaultTerms } from "../vault-terms.ts";
import { type EncryptedCodec, openEncryptedCodec } from "./encrypted-codec.ts";
import { readCurrent } from "./new-version.ts";

/** Files that are read at the same time. */
const LANES = 16;

/** null: the vault is a public one. */
export async function openSharedCommit(
  connection: Connection,
  vaultId: string,
  changes: readonly OpenChange[],
  options: FileCommitOptions,
): Promise<CommitKind | null> {
  const { signal } = options;
  const vault = (await findPlace(connection, { vaultId }, { signal }))?.vault ?? null;
  if (vault === null) return null;
  return inVaultTerms(async () => {
    // Checked before anything is read: a client that cannot sign cannot write.
    await vault.author();
    const items: SharedChange[] = [];
    const commit = new SharedCommit(connection, vault, items, signal);
    try {
      await inLanes(changes.entries(), Math.min(LANES, changes.length), async ([at, change]) => {
        items[at] = await aboutItem(change.id, () => openChange(connection, vault, change, options));
      });
    } catch (error) {
      throw await withCurrentTag(commit, error);
    }
    return commit;
  });
}

/** @throws ApiError `precondition_failed` if the file is not as the caller has seen it; VaultError `vault_changed`. */
async function openChange(
  connection: Connection,
  vault: OpenVault,
  change: OpenChange,
  options: FileCommitOptions,
): Promise<SharedChange> {
  const { id, ifMatch, name, source } = change;
  const { signal } = options;
  const file = await FILES.get(connection, id, { signal });
  await findVaultOf(connection, file, { vaultId: vault.id, sends: true, signal });
  // Before this client signs anything about the file's names: nothing of that may hide that somebody was faster.
  new Condition(ifMatch, file.shared).require(file.shared);
  const chosen = name === undefined ? change : { ...change, name: chosenName(fileCommitGroup.commit.id, name) };
  if (source !== null) return new ContentChange(connection, vault, chosen, source, file, options);
  return change.trash === true
    ? new TrashChange(connection, vault, chosen, file)
    : new EntryChange(connection, vault, chosen, file);
}

class SharedCommit implements CommitKind {
  readonly items: readonly SharedChange[];
  readonly idempotencyKey = undefined;
  readonly #connection: Connection;
  readonly #vault: OpenVault;
  readonly #signal: AbortSignal | undefined;
  #isStaged = false;

  constructor(
    connection: Connection,
    vault: OpenVault,
    items: readonly SharedChange[],
    signal: AbortSignal | undefined,
  ) {
    this.#connection = connection;
    this.#vault = vault;
    this.items = items;
    this.#signal = signal;
  }

  /**
   * Brings the folders whose names are under an earlier key under the current one, before any content is sent: the service would refuse the
   * whole commit for one of them. It goes by what the files show. Whatever else there is, a refusal shows.
   */
  start(): Promise<void> {
    return inVaultTerms(async () => {
      if (!this.#isStaged) await this.#stageOutdated();
      this.#isStaged = true;
    });
  }

  async #stageOutdated(): Promise<void> {
    const signing = this.items.filter(({ isSigned }) => isSigned);
    if (signing.length === 0) return;
    const view = await this.#vault.view({ maxAge: 0 });
    if (view.plainNames) return;
    const keyId = toHex((await this.#vault.writingKey(view, "again")).record.keyId);
    const outdated = new Set(
      signing.filter((item) => item.staysInFolder && item.entryKeyId() !== keyId).map((item) => item.folderId),
    );
    for (const folderId of outdated) this.#restart(await stageFolder(this.#connection, this.#vault, folderId));
  }

  /** What cures a refusal of one change is done once, for all of them: in the next round each is signed again. */
  recover(error: SdkError): Promise<boolean> {
    return inVaultTerms(async () => {
      if (this.items.some((item) => !item.canRestart)) return false;
      const { code, itemId } = error;
      const about = this.items.filter(({ id, isSigned }) => isSigned && (itemId === null || id === itemId));
      const folders = code === "names_outdated" ? new Set(about.map(({ folderId }) => folderId)) : new Set([null]);
      for (const folderId of folders) {
        const staged = await refreshFor(code, this.#connection, this.#vault, folderId);
        if (staged === null) return false;
        this.#restart(staged);
      }
      return true;
    });
  }

  async currentTag({ itemId }: SdkError): Promise<string | null> {
    if (itemId === null) return null;
    const [connection, vault] = [this.#connection, this.#vault];
    const file = await FILES.get(connection, itemId, { signal: this.#signal });
    await findVaultOf(connection, file, { vaultId: vault.id, sends: false, signal: this.#signal });
    const readAgain = () => FILES.get(connection, itemId, { signal: this.#signal });
    return inVaultTerms(() =>
      openLatest(file, readAgain, async (latest) => {
        await readCurrent(vault, latest);
        await openItem(vault, "file", latest, placeOf(latest));
        return latest.shared === null ? null : tagOf(latest.shared);
      }),
    );
  }

  #restart(staged: StagedEntries): void {
    for (const item of this.items) item.restart(staged);
  }
}

/** What the changes of shared vaults have in common. */
abstract class SharedChange implements CommitItem {
  readonly id: string;
  abstract readonly isSigned: boolean;
  protected readonly connection: Connection;
  protected readonly vault: OpenVault;
  protected readonly change: OpenChange;
  protected file: WireFile;

  constructor(connection: Connection, vault: OpenVault, change: OpenChange, file: WireFile) {
    this.id = change.id;
    this.connection = connection;
    this.vault = vault;
    this.change = change;
    this.file = file;
  }

  /** Where the file will be; null: the top of the vault. */
  get folderId(): string | null {
    return this.change.folderId === undefined ? this.file.folderId : this.change.folderId;
  }

  get staysInFolder(): boolean {
    return this.folderId === this.file.folderId;
  }

  /** Whether it can be made ready again. */
  get canRestart(): boolean {
    return true;
  }

  /** The key under which the service shows the name. Only a hint: nothing of it is verified. */
  entryKeyId(): string | null {
    const entry = fromBase64(this.file.shared?.entry ?? "");
    return entry === null ? null : toHex(parseEntryStatement(entry).keyId);
  }

  abstract restart(staged: StagedEntries): void;
  abstract prepare(): Promise<PreparedChange>;
  abstract findStored(): Promise<WireFile | false | null>;
  abstract receipt(file: WireFile): Promise<CommittedFile>;

  protected placeOfChange(): Pick<SentChange, "folderId"> {
    const { folderId } = this.change;
    return folderId === undefined ? {} : { folderId };
  }

  protected readAgain(): Promise<WireFile> {
    return FILES.get(this.connection, this.id);
  }

  protected async named(file: WireFile): Promise<CommittedFile> {
    const named = await nameOne(this.connection, FILES, file, { vaultId: this.vault.id });
    return { file: named, bytes: null, sha256: null };
  }
}

/** A new version, and perhaps a new name and place under the same signature. */
class ContentChange extends SharedChange {
  readonly isSigned = true;
  readonly #source: Source;
  readonly #options: FileCommitOptions;
  /** What was signed for before there is a codec. */
  readonly #staged: StagedEntries[] = [];
  #codec: EncryptedCodec | null = null;

  constructor(
    connection: Connection,
    vault: OpenVault,
    change: OpenChange,
    source: Source,
    file: WireFile,
    options: FileCommitOptions,
  ) {
    super(connection, vault, change, file);
    this.#source = source;
    this.#options = options;
  }

  override get canRestart(): boolean {
    return this.#codec === null || this.#codec.rereadable;
  }

  restart(staged: StagedEntries): void {
    if (this.#codec === null) this.#staged.push(staged);
    else this.#codec.restart(staged);
  }

  /** Small content is in memory from here on, so it is opened no earlier. */
  async prepare(): Promise<PreparedChange> {
    const codec = (this.#codec ??= await this.#open());
    const upload = await codec.encode();
    const { target } = upload;
    const held = target.kind === "version" ? target.held : undefined;
    if (held === undefined) throw new Error("a content of a commit is not held");
    const name = held.name === undefined ? {} : { name: held.name };
    return { change: { id: this.id, ifMatch: held.ifMatch, ...name, ...this.placeOfChange() }, upload };
  }

  async #open(): Promise<EncryptedCodec> {
    const { contentType, folderId, ifMatch, name } = this.change;
    const { padded, partBytes, signal } = this.#options;
    const target = { kind: "version", file: this.file, contentType, ifMatch, name, folderId, isHeld: true } as const;
    const codec = await openEncryptedCodec(this.connection, this.vault, target, this.#source, {
      padded,
      partBytes,
      signal,
    });
    for (const staged of this.#staged) codec.restart(staged);
    return codec;
  }

  findStored(): Promise<WireFile | false | null> {
    return this.#codec === null ? Promise.resolve(null) : this.#codec.findStored();
  }

  async receipt(file: WireFile): Promise<CommittedFile> {
    if (this.#codec === null) throw new Error("a content has a receipt before it was sent");
    return this.#codec.receipt(file);
  }
}

/** A new name or place alone. */
class EntryChange extends SharedChange {
  readonly isSigned = true;
  readonly #condition: Condition;
  #isAgain = false;
  #shared: SharedEntry | null = null;

  constructor(connection: Connection, vault: OpenVault, change: OpenChange, file: WireFile) {
    super(connection, vault, change, file);
    this.#condition = new Condition(change.ifMatch, file.shared);
  }

  restart(staged: StagedEntries): void {
    this.#condition.acceptStaged(staged, this.id);
    this.#isAgain = true;
  }

  prepare(): Promise<PreparedChange> {
    return inVaultTerms(async () => {
      if (this.#isAgain) this.file = await this.readAgain();
      const { id, vault } = this;
      const { ifMatch, name, folderId: wanted } = this.change;
      const opened = await openLatest(
        this.file,
        () => this.readAgain(),
        (latest) => {
          this.#condition.require(latest.shared);
          this.file = latest;
          return openItem(vault, "file", latest, placeOf(latest));
        },
      );
      const { file } = this;
      const folderId = wanted === undefined ? opened.statement.folderId : wanted;
      const metadata: Metadata = { ...opened.metadata, name: name ?? opened.metadata.name };
      const view = await vault.view();
      const draft = { kind: "file", id, folderId, metadata, previous: opened.statement } as const;
      const shared = await makeEntry(vault, view, await vault.writingKey(view, "again"), draft);
      this.#shared = shared;
      const clear = view.plainNames ? { name: metadata.name } : {};
      const tag = ifMatch === "*" || file.shared === null ? ifMatch : tagOf(file.shared);
      return { change: { id, ifMatch: tag, shared, ...clear, ...this.placeOfChange() }, upload: null };
    });
  }

  findStored(): Promise<WireFile | false | null> {
    return inVaultTerms(async () => {
      if (this.#shared === null) return null;
      const now = await this.readAgain();
      const stored = await isEntryStored(this.connection, this.vault, "file", now, ownStatement(this.#shared));
      return stored === true ? now : stored;
    });
  }

  async receipt(file: WireFile): Promise<CommittedFile> {
    const shared = this.#shared;
    if (shared === null) throw new Error("an entry has a receipt before it was signed");
    recordOwnEntry(this.vault, this.id, ownStatement(shared));
    return this.named(file);
  }
}

/** Nobody signs that: the tag is all that guards it, and the service compares it. */
class TrashChange extends SharedChange {
  readonly isSigned = false;
  readonly #condition: Condition;
  #isAgain = false;

  constructor(connection: Connection, vault: OpenVault, change: OpenChange, file: WireFile) {
    super(connection, vault, change, file);
    this.#condition = new Condition(change.ifMatch, file.shared);
  }

  restart(staged: StagedEntries): void {
    this.#condition.acceptStaged(staged, this.id);
    this.#isAgain = true;
  }

  async prepare(): Promise<PreparedChange> {
    if (this.#isAgain) this.file = await this.readAgain();
    const { id, file } = this;
    this.#condition.require(file.shared);
    const { ifMatch } = this.change;
    const tag = ifMatch === "*" || file.shared === null ? ifMatch : tagOf(file.shared);
    return { change: { id, ifMatch: tag, trash: true }, upload: null };
  }

  /** That it lies there, anybody may have done. What was signed beside it says whether the commit was stored. */
  async findStored(): Promise<WireFile | false | null> {
    const now = await this.readAgain();
    return now.trashedAt === null ? false : now;
  }

  async receipt(file: WireFile): Promise<CommittedFile> {
    if (file.trashedAt === null)
      throw vaultError("damaged", `The service answers with file ${file.id}, and it is not in the trash`);
    return this.named(file);
  }
}

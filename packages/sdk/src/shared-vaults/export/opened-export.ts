/** An export that matches its manifest, as its reader uses it: everything is verified when it is read. */
import {
  decryptFile,
  parseVersionStatement,
  verifyVersion,
  type EntryKind,
  type EntryStatement,
  type Place,
  type RunningDigest,
} from "@coffer/crypto";
import { fromBase64, toHex } from "../../transfer/digest.ts";
import type { CheckedItems } from "./checked-items.ts";
import { openItem, placeOf } from "../names/entries.ts";
import {
  contentPath,
  damagedExport,
  exportedFile,
  exportedFolder,
  filePath,
  folderPath,
  parseDocument,
  type ExportedFileFacts,
  type ExportedFolderFacts,
  type ExportStore,
  type Manifest,
} from "./export-layout.ts";
import { viewNaming } from "../names/signer-view.ts";
import type { OpenVault } from "../open-vault.ts";
import { vaultError } from "../vault-error.ts";
import { inVaultTerms, toVaultError } from "../vault-terms.ts";
import { VaultError } from "../../http/errors.ts";

/** A file of an export, its name verified and decrypted. Foreign text: never use it as a path. */
export interface ExportedFile {
  readonly id: string;
  readonly versionId: string;
  readonly name: string;
  readonly contentType: string;
  /** Bytes of the content. */
  readonly size: number;
  /** null: the top of the vault. */
  readonly folderId: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly trashedAt: string | null;
}

export interface ExportedFolder {
  readonly id: string;
  readonly name: string;
  readonly parentId: string | null;
  readonly trashedAt: string | null;
}

export interface OpenedExport {
  /** The service's id of the vault. */
  readonly vaultId: string;
  /** The vault's chain object: `0x` and 64 hex digits. */
  readonly vaultObjectId: string;
  /** Milliseconds since 1970, by the exporter's clock. */
  readonly createdAt: number;
  /** The address whose signature says that these were all files then; null: nobody says so (`allowUnsigned`). */
  readonly exportedBy: string | null;
  /**
   * Whether the vault names that address now; null: nobody signed. A removed member may have signed afterwards, with
   * an earlier date, and left files out: compare with another export, or make a new one.
   */
  readonly exporterIsMember: boolean | null;
  /**
   * In no order.
   * @throws VaultError for an entry that is not true.
   */
  files(): AsyncGenerator<ExportedFile, void, undefined>;
  /**
   * In no order.
   * @throws VaultError for an entry that is not true.
   */
  folders(): AsyncGenerator<ExportedFolder, void, undefined>;
  /**
   * The content, in constant memory. It is whole only if the iteration ends without an error: do not use it before.
   * @throws VaultError whose `step` is the check of the reading order that failed.
   */
  read(fileId: string): AsyncGenerator<Uint8Array, void, undefined>;
  /** Reads everything. Returns the items that are not true; nothing if all are. */
  verify(options?: { readonly signal?: AbortSignal }): Promise<readonly ExportProblem[]>;
  /**
   * Overwrites the vault keys in memory, once you have read what you need. Reads that are under way or begin later fail
   * with `keys_forgotten`. Safe to repeat.
   */
  close(): void;
}

export interface ExportProblem {
  readonly kind: EntryKind;
  readonly id: string;
  readonly code: string;
  readonly step: string | null;
  readonly message: string;
}

/** The signer of the manifest. */
export interface Exporter {
  readonly address: string;
  readonly isMember: boolean;
  /** The statement's: the export holds nothing that was written later. */
  readonly place: Place;
}

interface ExportParts {
  readonly store: ExportStore;
  readonly items: CheckedItems;
  readonly opened: OpenVault;
  readonly closeKeys: () => void;
}

export class StoredExport implements OpenedExport {
  readonly vaultId: string;
  readonly vaultObjectId: string;
  readonly createdAt: number;
  readonly exportedBy: string | null;
  readonly exporterIsMember: boolean | null;
  readonly #store: ExportStore;
  readonly #items: CheckedItems;
  readonly #vault: OpenVault;
  readonly #closeKeys: () => void;

  /** Contents come from the store, and must have the digest that their file names; everything else comes from checked bytes. */
  constructor(
    { vaultId, vault, createdAt }: Manifest,
    exporter: Exporter | null,
    { store, items, opened, closeKeys }: ExportParts,
  ) {
    this.vaultId = vaultId;
    this.vaultObjectId = vault.objectId;
    this.createdAt = createdAt;
    this.exportedBy = exporter?.address ?? null;
    this.exporterIsMember = exporter?.isMember ?? null;
    this.#store = store;
    this.#items = items;
    this.#vault = opened;
    this.#closeKeys = closeKeys;
  }

  close(): void {
    this.#closeKeys();
  }

  async *files(): AsyncGenerator<ExportedFile, void, undefined> {
    for (const id of this.#items.ids("files")) yield await this.#file(await this.#facts(id));
  }

  async *folders(): AsyncGenerator<ExportedFolder, void, undefined> {
    for (const id of this.#items.ids("folders")) yield await this.#folder(id);
  }

  async *read(fileId: string): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      const facts = await this.#facts(fileId);
      const { metadata, statement } = await this.#open("file", facts, facts.folderId);
      const { size } = metadata;
      let seen = 0;
      for await (const piece of this.#content(facts, statement)) {
        seen += piece.length;
        if (seen > size) break;
        yield piece;
      }
      if (seen !== size)
        throw vaultError("damaged", "The file does not have the size in its entry", { step: "metadata" });
    } catch (error) {
      throw toVaultError(error);
    }
  }

  async verify({ signal }: { readonly signal?: AbortSignal } = {}): Promise<readonly ExportProblem[]> {
    const problems: ExportProblem[] = [];
    const check = async (kind: EntryKind, id: string, work: () => Promise<unknown>): Promise<void> => {
      signal?.throwIfAborted();
      try {
        await work();
      } catch (error) {
        const failure = toVaultError(error);
        if (!(failure instanceof VaultError) || failure.retryable) throw failure;
        const { code, step, message } = failure;
        problems.push({ kind, id, code, step, message });
      }
    };
    for (const id of this.#items.ids("folders")) await check("folder", id, () => this.#folder(id));
    for (const id of this.#items.ids("files"))
      await check("file", id, async () => {
        for await (const _ of this.read(id)) signal?.throwIfAborted();
      });
    return problems;
  }

  async #facts(id: string): Promise<ExportedFileFacts> {
    const facts = parseDocument(await this.#items.read("files", id), filePath(id), exportedFile);
    if (facts.id !== id) throw damagedExport(`${filePath(id)} is of another file`);
    return facts;
  }

  async #file(facts: ExportedFileFacts): Promise<ExportedFile> {
    const { id, versionId, folderId, createdAt, updatedAt, trashedAt } = facts;
    const { metadata, statement } = await this.#open("file", facts, folderId);
    return {
      id,
      versionId,
      ...metadata,
      folderId: statement.folderId,
      createdAt,
      updatedAt,
      trashedAt,
    };
  }

  async #folder(id: string): Promise<ExportedFolder> {
    const facts = parseDocument(await this.#items.read("folders", id), folderPath(id), exportedFolder);
    if (facts.id !== id) throw damagedExport(`${folderPath(id)} is of another folder`);
    const { metadata, statement } = await this.#open("folder", facts, facts.parentId);
    return { id, name: metadata.name, parentId: statement.folderId, trashedAt: facts.trashedAt };
  }

  #open(kind: EntryKind, facts: ExportedFileFacts | ExportedFolderFacts, place: string | null) {
    const item = { ...facts, vaultId: this.vaultId };
    const shownFolder = facts.trashedAt === null ? place : placeOf(facts);
    return inVaultTerms(() => openItem(this.#vault, kind, item, shownFolder));
  }

  async *#content(
    { id, versionId, size, sha256, shared }: ExportedFileFacts,
    entry: EntryStatement,
  ): AsyncGenerator<Uint8Array, void, void> {
    const statement = fromBase64(shared?.version ?? "");
    if (statement === null) throw damagedExport(`file ${id} has no version statement`);
    const vault = this.#vault;
    const stored = await this.#store.open(contentPath(id));
    if (stored === null) throw damagedExport(`${contentPath(id)} is missing`);
    const view = await viewNaming((wanted) => vault.view(wanted), [parseVersionStatement(statement)]);
    const question = { vault: vault.objectId, view, fileId: id, versionId, seen: null, entry };
    const digest = vault.platform.createSha256();
    yield* decryptFile(vault.platform, digesting(stored, digest), {
      unlock: (start) => verifyVersion(vault.platform, question, { statement, start, fileSize: size }, vault.findKey),
    });
    // The exporter's signature covers this digest too: it holds also if the version's statement has none (above 64
    // MiB).
    if (toHex(digest.digest()) !== sha256)
      throw vaultError("damaged", "The content is not the one that was exported", { step: "digest" });
  }
}

async function* digesting(
  stored: AsyncIterable<Uint8Array>,
  digest: RunningDigest,
): AsyncGenerator<Uint8Array, void, void> {
  for await (const piece of stored) {
    digest.update(piece);
    yield piece;
  }
}

/** Opening an export of a shared vault: with the chain, the key servers and a member's key, and without the service. */
import { openChain, toVaultView, type Chain, type VaultObject } from "@coffer/chain";
import {
  decryptFile,
  EXPORT_STATEMENT_BYTES,
  parseVersionStatement,
  verifyExportStatement,
  verifyVersion,
  webPlatform,
  type CryptoPlatform,
  type EntryKind,
  type RunningDigest,
  type VaultView,
} from "@coffer/crypto";
import { fromBase64, toHex } from "../digest.ts";
import type { SharedVaultOptions } from "../options.ts";
import { bytesOf } from "./addresses.ts";
import { openItem, placeOf } from "./entries.ts";
import { digestItems } from "./export-items.ts";
import { ExportKeys } from "./export-keys.ts";
import {
  contentPath,
  damagedExport,
  exportedFile,
  exportedFolder,
  filePath,
  folderPath,
  manifest as manifestShape,
  MANIFEST,
  MAX_ITEM,
  MAX_MANIFEST,
  parseDocument,
  readDocument,
  readWhole,
  STATEMENT,
  type ExportedFileFacts,
  type ExportedFolderFacts,
  type ExportStore,
  type Manifest,
} from "./export-layout.ts";
import { viewNaming } from "./naming-view.ts";
import type { OpenVault } from "./open-vault.ts";
import { rememberSeen, seenBy } from "./seen.ts";
import { inVaultTerms, toVaultError, VaultError } from "./vault-error.ts";

export interface OpenExportOptions extends Omit<SharedVaultOptions, "pins" | "seen"> {
  /** The vault's chain object, where the caller knows it: an export of another vault is refused. */
  readonly vaultObjectId?: string | undefined;
  /**
   * Take what is below the vault's floor, too: an export that is older than the last rotation. Those who were removed before it could have
   * signed such files, if they could write to the export.
   */
  readonly acceptBelowFloor?: boolean | undefined;
  /**
   * Take an export that nobody signed: its exporter had no signing key, or somebody took the signature away. Each of its files is still what a
   * member signed, but whoever could write to the export may have left files out, or put older ones in.
   */
  readonly allowUnsigned?: boolean | undefined;
}

/** A file of an export, its name verified and decrypted. Foreign text: never use it as a path. */
export interface ExportedFile {
  readonly id: string;
  readonly versionId: string;
  readonly name: string;
  readonly contentType: string;
  /** Of the content, in bytes. */
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
  readonly vaultId: string;
  readonly vaultObjectId: string;
  /** Milliseconds since 1970, by the clock of who exported it. */
  readonly createdAt: number;
  /** The address whose signature says that these are all files there were, then; null: nobody says so (`allowUnsigned`). */
  readonly exportedBy: string | null;
  /** In no order. @throws VaultError for an entry that is not true. */
  files(): AsyncGenerator<ExportedFile, void, undefined>;
  folders(): AsyncGenerator<ExportedFolder, void, undefined>;
  /**
   * The content, in constant memory. That it is whole is known when the iteration ends without an error, and only then may it be used.
   * @throws VaultError whose `step` is the check of the reading order that failed.
   */
  read(fileId: string): AsyncGenerator<Uint8Array, void, undefined>;
  /** Reads everything. Answers what is not true, and nothing when all is. */
  verify(options?: { readonly signal?: AbortSignal }): Promise<readonly ExportProblem[]>;
}

export interface ExportProblem {
  readonly kind: EntryKind;
  readonly id: string;
  readonly code: string;
  readonly step: string | null;
  readonly message: string;
}

/**
 * Reads the vault object on the chain of `network`, never behind the generation that the export was made in, and holds the export's statement
 * and every statement in it to that. Whoever can write to an export can take it away as a whole, and put an older one in its place; anything
 * else is refused. Who exported it is believed about what there was: `exportedBy` and `createdAt` say whom and when.
 * @throws VaultError `export_unsigned`; `damaged` for an export that is not finished or not whole, `vault_changed` for another network or
 * vault, `rolled_back` for one of before the last rotation, and what reading the chain throws.
 */
export async function openExport(store: ExportStore, options: OpenExportOptions): Promise<OpenedExport> {
  return inVaultTerms(async () => {
    const manifest = await readWhole(store, MANIFEST, MAX_MANIFEST);
    if (manifest === null) throw damagedExport(`${MANIFEST} is missing`);
    const facts = parseDocument(manifest, MANIFEST, manifestShape);
    requirePlace(facts, options);
    const statement = await readStatement(store, options);
    const { network, fetch, clock = Date.now, platform = webPlatform } = options;
    const chain = openChain(network, { fetch, clock });
    const read = (maxAge?: number) => readVault(chain, facts, options, maxAge);
    const exportedBy = statement === null ? null : await verifyStatement(await read(), facts, manifest, statement);
    await requireWhole(store, facts);
    const keys = new ExportKeys(store, chain, options, read);
    const vault = openOffline(facts, platform, read, keys);
    return new StoredExport(store, facts, exportedBy, vault);
  }, NEXT_STEPS);
}

const NEXT_STEPS = {
  rolled_back:
    "The export is of before the vault's last rotation, or the chain node is behind. Take a newer export, or open it with acceptBelowFloor.",
};

/** null: there is none, and the caller takes that. */
async function readStatement(
  store: ExportStore,
  { allowUnsigned = false }: OpenExportOptions,
): Promise<Uint8Array | null> {
  const statement = await readWhole(store, STATEMENT, EXPORT_STATEMENT_BYTES);
  if (statement === null && !allowUnsigned)
    throw new VaultError("export_unsigned", "Nobody has signed that the export is whole");
  return statement;
}

/** Answers the address of who exported it. */
async function verifyStatement(
  view: VaultView,
  { createdAt, vault: { objectId, generation } }: Manifest,
  manifest: Uint8Array,
  bytes: Uint8Array,
): Promise<string> {
  const statement = await verifyExportStatement({ vault: bytesOf(objectId), view }, manifest, bytes);
  if (statement.time !== createdAt || String(statement.generation) !== generation)
    throw damagedExport("its statement is of another time or generation than its manifest");
  return `0x${toHex(statement.signer)}`;
}

function requirePlace(facts: Manifest, { network, vaultObjectId }: OpenExportOptions): void {
  const { chainId, originalPackageId } = facts.network;
  if (chainId !== network.chainId || originalPackageId !== network.originalPackageId)
    throw new VaultError(
      "vault_changed",
      `The export is of chain ${chainId}, and chain ${network.chainId} is configured`,
    );
  if (vaultObjectId !== undefined && vaultObjectId !== facts.vault.objectId)
    throw new VaultError("vault_changed", `The export is of vault ${facts.vault.objectId}, not of ${vaultObjectId}`);
}

async function requireWhole(store: ExportStore, { files, folders, records, items }: Manifest): Promise<void> {
  const found = await digestItems(store, { files, folders, records });
  let contents = 0;
  for await (const name of store.list("content")) {
    const id = /^([0-9a-f-]{36})\.file$/.exec(name)?.[1];
    contents += id !== undefined && (await store.size(filePath(id))) !== null ? 1 : Number.NaN;
  }
  if (found.items !== items || contents !== files)
    throw damagedExport("it has not the files that its manifest says: one was taken away, added, or exchanged");
}

async function readVault(
  chain: Chain,
  { vault }: Manifest,
  { acceptBelowFloor = false }: OpenExportOptions,
  maxAge?: number,
): Promise<VaultView> {
  const minGeneration = BigInt(vault.generation);
  const object: VaultObject = await chain.readVault(vault.objectId, {
    minGeneration,
    ...(maxAge === undefined ? {} : { maxAge }),
  });
  const view = toVaultView(object);
  return acceptBelowFloor ? { ...view, floor: 0n } : view;
}

/** What the reading functions of this directory need of a vault, with nothing of the service. */
function openOffline(
  { vault, vaultId, origin }: Manifest,
  platform: CryptoPlatform,
  read: () => Promise<VaultView>,
  keys: ExportKeys,
): OpenVault {
  const refuse = (): never => {
    throw new TypeError("nothing is written into an export");
  };
  const objectId = bytesOf(vault.objectId);
  const pin = { origin, vaultId, shared: true, chainObjectId: vault.objectId, ownerAddress: null, chainId: null };
  return {
    ...{ id: vaultId, pin, objectId, platform, seen: seenBy(rememberSeen()) },
    author: refuse,
    view: read,
    writingKey: refuse,
    forgetWritingKey: refuse,
    openKeys: (records) => keys.open(records),
    findKey: (record) => keys.find(record),
    record: (keyId) => keys.record(keyId),
  };
}

class StoredExport implements OpenedExport {
  readonly vaultId: string;
  readonly vaultObjectId: string;
  readonly createdAt: number;
  readonly exportedBy: string | null;
  readonly #store: ExportStore;
  readonly #vault: OpenVault;

  constructor(
    store: ExportStore,
    { vaultId, vault, createdAt }: Manifest,
    exportedBy: string | null,
    opened: OpenVault,
  ) {
    this.vaultId = vaultId;
    this.vaultObjectId = vault.objectId;
    this.createdAt = createdAt;
    this.exportedBy = exportedBy;
    this.#store = store;
    this.#vault = opened;
  }

  async *files(): AsyncGenerator<ExportedFile, void, undefined> {
    for await (const id of this.#ids("files")) yield await this.#file(id);
  }

  async *folders(): AsyncGenerator<ExportedFolder, void, undefined> {
    for await (const id of this.#ids("folders")) yield await this.#folder(id);
  }

  async *read(fileId: string): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      const { size } = await this.#file(fileId);
      let seen = 0;
      for await (const piece of this.#content(await this.#facts(fileId))) {
        seen += piece.length;
        if (seen > size) break;
        yield piece;
      }
      if (seen !== size)
        throw new VaultError("damaged", "The file has not the size that its entry says", { step: "metadata" });
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
    for await (const id of this.#ids("folders")) await check("folder", id, () => this.#folder(id));
    for await (const id of this.#ids("files"))
      await check("file", id, async () => {
        for await (const _ of this.read(id)) signal?.throwIfAborted();
      });
    return problems;
  }

  async *#ids(folder: "files" | "folders"): AsyncGenerator<string, void, undefined> {
    for await (const name of this.#store.list(folder)) {
      const id = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.json$/.exec(name)?.[1];
      if (id !== undefined) yield id;
    }
  }

  async #facts(id: string): Promise<ExportedFileFacts> {
    const facts = await readDocument(this.#store, filePath(id), exportedFile, MAX_ITEM);
    if (facts.id !== id) throw damagedExport(`${filePath(id)} is of another file`);
    return facts;
  }

  async #file(id: string): Promise<ExportedFile> {
    const facts = await this.#facts(id);
    const { versionId, folderId, createdAt, updatedAt, trashedAt } = facts;
    const { metadata, statement } = await this.#open("file", facts, folderId);
    return {
      ...{ id, versionId, ...metadata, folderId: statement.folderId },
      ...{ createdAt, updatedAt, trashedAt },
    };
  }

  async #folder(id: string): Promise<ExportedFolder> {
    const facts = await readDocument(this.#store, folderPath(id), exportedFolder, MAX_ITEM);
    if (facts.id !== id) throw damagedExport(`${folderPath(id)} is of another folder`);
    const { metadata, statement } = await this.#open("folder", facts, facts.parentId);
    return { id, name: metadata.name, parentId: statement.folderId, trashedAt: facts.trashedAt };
  }

  #open(kind: EntryKind, facts: ExportedFileFacts | ExportedFolderFacts, place: string | null) {
    const item = { ...facts, vaultId: this.vaultId };
    const shown = facts.trashedAt === null ? place : placeOf(facts);
    return inVaultTerms(() => openItem(this.#vault, kind, item, shown));
  }

  async *#content({ id, versionId, size, sha256, shared }: ExportedFileFacts): AsyncGenerator<Uint8Array, void, void> {
    const statement = fromBase64(shared?.version ?? "");
    if (statement === null) throw damagedExport(`file ${id} has no version statement`);
    const vault = this.#vault;
    const stored = await this.#store.open(contentPath(id));
    if (stored === null) throw damagedExport(`${contentPath(id)} is missing`);
    const view = await viewNaming((wanted) => vault.view(wanted), [parseVersionStatement(statement)]);
    const question = { vault: vault.objectId, view, fileId: id, versionId, seen: null };
    const digest = vault.platform.createSha256();
    yield* decryptFile(vault.platform, digesting(stored, digest), {
      unlock: (start) => verifyVersion(vault.platform, question, { statement, start, fileSize: size }, vault.findKey),
    });
    // The exporter's signature is over this digest too: it holds also where the version's statement has none (above 64 MiB).
    if (toHex(digest.digest()) !== sha256)
      throw new VaultError("damaged", "The content is not the one that was exported", { step: "digest" });
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

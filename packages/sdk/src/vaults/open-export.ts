/** Opening an export of a shared vault: with the chain, the key servers and a member's key, and without the service. */
import { openChain, sealVaultKeyWrap, toVaultView, type Chain, type VaultObject } from "@coffer/chain";
import {
  CryptoError,
  decryptFile,
  openVaultKeys,
  parseRecord,
  parseVersionStatement,
  verifyRecord,
  verifyVersion,
  webPlatform,
  type CryptoPlatform,
  type EntryKind,
  type VaultKey,
  type VaultKeyRecord,
  type VaultView,
} from "@coffer/crypto";
import { fromBase64, toHex } from "../digest.ts";
import type { SharedVaultOptions } from "../options.ts";
import { bytesOf } from "./addresses.ts";
import { openItem, placeOf } from "./entries.ts";
import { digestPaths } from "./export.ts";
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
  readDocument,
  recordPath,
  type ExportedFileFacts,
  type ExportedFolderFacts,
  type ExportStore,
  type Manifest,
} from "./export-layout.ts";
import { viewNaming } from "./naming-view.ts";
import type { OpenVault } from "./open-vault.ts";
import { rememberSeen, seenBy } from "./seen.ts";
import { inVaultTerms, toVaultError, VaultError } from "./vault-error.ts";

export interface OpenExportOptions extends Omit<SharedVaultOptions, "pins"> {
  /** The vault's chain object, where the caller knows it: an export of another vault is refused. */
  readonly vaultObjectId?: string | undefined;
  /**
   * Take what is below the vault's floor, too: an export that is older than the last rotation. Those who were removed before it could have
   * signed such files, if they could write to the export.
   */
  readonly acceptBelowFloor?: boolean | undefined;
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
  /** Milliseconds since 1970, as the export says. */
  readonly createdAt: number;
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
 * Reads the vault object on the chain of `network`, never behind the generation that the export was made in, and holds every statement to
 * it. Whoever can write to an export can take it away as a whole, and put an older one in its place; anything else is refused.
 * @throws VaultError `damaged` for an export that is not finished or not whole, `vault_changed` for another network or vault, and what
 * reading the chain throws.
 */
export async function openExport(store: ExportStore, options: OpenExportOptions): Promise<OpenedExport> {
  return inVaultTerms(async () => {
    const facts = await readDocument(store, MANIFEST, manifestShape, MAX_MANIFEST);
    requirePlace(facts, options);
    await requireWhole(store, facts);
    const { network, fetch, clock = Date.now, platform = webPlatform } = options;
    const chain = openChain(network, { fetch, clock });
    const read = (maxAge?: number) => readVault(chain, facts, options, maxAge);
    await read();
    const keys = new ExportKeys(store, chain, options, read);
    const vault = openOffline(facts, platform, read, keys);
    return new StoredExport(store, facts, vault);
  });
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

async function requireWhole(store: ExportStore, facts: Manifest): Promise<void> {
  const paths: string[] = [];
  for (const folder of ["records", "folders", "files", "content"])
    for await (const name of store.list(folder)) paths.push(`${folder}/${name}`);
  if ((await digestPaths(paths)) !== facts.paths)
    throw damagedExport("it has not the files that its manifest says: one was taken away, or added");
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

/** The export's records and their keys, in memory only. */
class ExportKeys {
  readonly #store: ExportStore;
  readonly #wrap: ReturnType<typeof sealVaultKeyWrap>;
  readonly #view: () => Promise<VaultView>;
  readonly #keys = new Map<string, VaultKey>();
  #all: Promise<void> | null = null;

  constructor(store: ExportStore, chain: Chain, options: OpenExportOptions, view: () => Promise<VaultView>) {
    const { signer, network, fetch, clock } = options;
    this.#store = store;
    this.#view = view;
    this.#wrap = sealVaultKeyWrap({
      client: chain.client,
      ...{ network, fetch, clock },
      signer: {
        chainAddress: signer.chainAddress,
        signPersonalMessage: (bytes) => signer.signPersonalMessage(bytes),
        signTransaction: () => Promise.reject(new TypeError("a key wrap sends nothing")),
      },
      vaultObjects: {
        initialSharedVersion: async (vault) => (await chain.readVault(`0x${toHex(vault)}`)).initialSharedVersion,
      },
    });
  }

  async record(keyId: Uint8Array): Promise<VaultKeyRecord> {
    const bytes = await this.#store.read(recordPath(toHex(keyId)), MAX_ITEM);
    if (bytes === null) throw new CryptoError("damaged", "record", "the export lacks the vault key that was signed");
    const record = parseRecord(bytes);
    if (toHex(record.keyId) !== toHex(keyId))
      throw new CryptoError("damaged", "record", "the export holds another record under that key's id");
    return record;
  }

  /** All of the export with one request per key server; what is wrong with one of them shows when it is asked for. */
  async find(record: VaultKeyRecord): Promise<VaultKey> {
    this.#all ??= this.#openAll();
    await this.#all.catch(() => undefined);
    const known = this.#keys.get(toHex(record.keyId));
    if (known !== undefined) return known;
    await this.open([record]);
    const opened = this.#keys.get(toHex(record.keyId));
    if (opened === undefined) throw new TypeError("the key was opened a moment ago");
    return opened;
  }

  async open(records: readonly VaultKeyRecord[]): Promise<void> {
    const missing = records.filter(({ keyId }) => !this.#keys.has(toHex(keyId)));
    if (missing.length === 0) return;
    for (const { record, key } of await openVaultKeys(await this.#view(), missing, this.#wrap))
      this.#keys.set(toHex(record.keyId), key);
  }

  async #openAll(): Promise<void> {
    const view = await this.#view();
    const records: VaultKeyRecord[] = [];
    for await (const name of this.#store.list("records")) {
      const keyId = /^([0-9a-f]{64})\.record$/.exec(name)?.[1];
      const record = keyId === undefined ? null : await this.#readable(view, keyId);
      if (record !== null) records.push(record);
    }
    await this.open(records);
  }

  async #readable(view: VaultView, keyId: string): Promise<VaultKeyRecord | null> {
    try {
      const record = await this.record(bytesOf(`0x${keyId}`));
      await verifyRecord(view, record);
      return record;
    } catch (error) {
      if (error instanceof CryptoError) return null;
      throw error;
    }
  }
}

class StoredExport implements OpenedExport {
  readonly vaultId: string;
  readonly vaultObjectId: string;
  readonly createdAt: number;
  readonly #store: ExportStore;
  readonly #vault: OpenVault;

  constructor(store: ExportStore, { vaultId, vault, createdAt }: Manifest, opened: OpenVault) {
    this.vaultId = vaultId;
    this.vaultObjectId = vault.objectId;
    this.createdAt = createdAt;
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

  async *#content({ id, versionId, size, shared }: ExportedFileFacts): AsyncGenerator<Uint8Array, void, void> {
    const statement = fromBase64(shared?.version ?? "");
    if (statement === null) throw damagedExport(`file ${id} has no version statement`);
    const vault = this.#vault;
    const stored = await this.#store.open(contentPath(versionId));
    if (stored === null) throw damagedExport(`${contentPath(versionId)} is missing`);
    const view = await viewNaming((wanted) => vault.view(wanted), [parseVersionStatement(statement)]);
    const question = { vault: vault.objectId, view, fileId: id, versionId, seen: null };
    yield* decryptFile(vault.platform, stored, {
      unlock: (start) => verifyVersion(vault.platform, question, { statement, start, fileSize: size }, vault.findKey),
    });
  }
}

/**
 * Copying a shared vault out of the service, so that it opens without it: with the chain, the key servers and a
 * member's key alone.
 */
import { filesGroup, vaultKeysGroup, type Folder } from "@coffer/contract";
import { toVaultView, type NetworkConfiguration, type VaultObject } from "@coffer/chain";
import {
  CryptoError,
  findSigner,
  placeOf,
  HEADER_BYTES,
  isReached,
  laterPlace,
  makeExportStatement,
  parseEntryStatement,
  parseHeader,
  parseVersionStatement,
  type Author,
  type Place,
  type VaultView,
} from "@coffer/crypto";
import * as z from "zod/mini";
import { iterate } from "../../http/byte-body.ts";
import { callOn } from "../../http/call.ts";
import { digestOf, fromBase64, toHex } from "../../transfer/digest.ts";
import { openDownload } from "../../transfer/stored-download.ts";
import { ApiError } from "../../http/errors.ts";
import { everyPage, MAX_PAGES_IN_MEMORY, type PageCursor } from "../../http/every-page.ts";
import type { WireFile } from "../../storage/file.ts";
import { everyItem, FILES, FOLDERS } from "../../storage/items.ts";
import type { Connection } from "../../connection/options.ts";
import { bytesOf } from "../addresses.ts";
import { digestItems } from "./export-items.ts";
import {
  contentPath,
  damagedExport,
  exportedFile,
  exportedFolder,
  exportedItem,
  filePath,
  folderPath,
  itemIdOf,
  itemPath,
  MANIFEST,
  MAX_ITEM,
  readDocument,
  recordPath,
  renderDocument,
  STATEMENT,
  type ExportStore,
  type ItemCounts,
  type Manifest,
} from "./export-layout.ts";
import type { OpenVault } from "../open-vault.ts";
import type { VaultRegistry } from "../vault-registry.ts";
import { requireVault } from "../names/vault-finder.ts";
import { inVaultTerms } from "../vault-terms.ts";
import { vaultError } from "../vault-error.ts";
import { VaultError } from "../../http/errors.ts";
import { requireOpenVault, vaultRegistry } from "../client-vaults.ts";

/** How far an export has come. */
export interface ExportProgress {
  /** Files that are in the export. */
  readonly files: number;
  /** Folders that are in the export. */
  readonly folders: number;
  /** Bytes of the contents that this call fetched. */
  readonly bytes: number;
  /** Files that the service listed when the export began. */
  readonly totalFiles: number;
  /** Their stored bytes. A call that goes on fetches fewer. */
  readonly totalBytes: number;
}

/** What an export holds. */
export interface ExportResult extends ExportProgress {
  /** Records of vault keys that are in the export. */
  readonly records: number;
  /** Files among them that lie in the trash. `saveExport` leaves them out. 0 without `trash`. */
  readonly trashed: number;
  /** Files in the trash that this client does not reach: only the owner does. 0 without `trash`. */
  readonly skipped: number;
  /** The address that signed the export; null: unsigned, because the vault names no signing key of this client's. */
  readonly signedBy: string | null;
}

/** For an export. */
export interface ExportOptions {
  /** Also what lies in the trash, which may be larger than the rest. Default: false. */
  readonly trash?: boolean | undefined;
  /** Ends the call when it aborts; the next call goes on. Default: it runs to its end. */
  readonly signal?: AbortSignal | undefined;
  /** Called once before anything is fetched, and after each item. Default: no function. */
  readonly onProgress?: ((progress: ExportProgress) => void) | undefined;
}

/**
 * Writes what the service has of the vault into `store`: key records, signed statements, encrypted names and contents, and
 * with `trash` what lies in the trash. It adds the chain's vault object. It decrypts nothing, so nothing in it is more
 * readable than at the service; `openExport` verifies and decrypts. A member with a signing key signs it, so that
 * nobody can leave a file out of it later. The next call goes on where one was cut off: it does not fetch contents
 * again that are there. The manifest comes last: an export without one is not finished. A repeated one has none until
 * it is finished again.
 * @throws ApiError, IntegrityError for bytes that are not those the service announced.
 * @throws VaultError `damaged` for other ids, `chain_stale` and `rolled_back` for a chain node that is behind members.
 */
export async function exportVault(
  connection: Connection,
  vaultId: string,
  store: ExportStore,
  { onProgress, signal, trash = false }: ExportOptions = {},
): Promise<ExportResult> {
  const vault = await requireOpenVault(connection, vaultId, { signal });
  for (const path of [MANIFEST, STATEMENT]) await store.remove(path);
  const run = crypto.randomUUID();
  const writing: Writing = { connection, vaultId, store, signal, trash, run, records: new Set(), latest: NOWHERE };
  let progress: ExportProgress = { files: 0, folders: 0, bytes: 0, ...(await measure(writing)) };
  const report = (change: Partial<ExportProgress>): void => {
    progress = { ...progress, ...change };
    onProgress?.(progress);
  };
  report({});
  for await (const _ of exportFolders(writing)) report({ folders: progress.folders + 1 });
  let [skipped, trashed] = [0, 0];
  for await (const { fetched, isTrashed } of exportFiles(writing)) {
    if (fetched === "closed") skipped += 1;
    else {
      if (isTrashed) trashed += 1;
      report({ files: progress.files + 1, bytes: progress.bytes + fetched });
    }
  }
  // After the files: a file that came last names a key that was there by then.
  await exportRecords(writing);
  await removeOthers(writing);
  const { records, signedBy } = await finish(writing, vault, progress);
  return { ...progress, records, trashed, skipped, signedBy };
}

interface Writing {
  readonly connection: Connection;
  readonly vaultId: string;
  readonly store: ExportStore;
  readonly signal: AbortSignal | undefined;
  readonly trash: boolean;
  /** Names this call in its files. */
  readonly run: string;
  /** Key ids: some for each generation. */
  readonly records: Set<string>;
  /** The latest place that a statement in it names. */
  latest: Place;
}

const NOWHERE: Place = { generation: 0n, after: 0n };

/** How much there is to export, so that it can be said before the disk fills. It keeps no list in memory. */
async function measure(writing: Writing): Promise<Pick<ExportProgress, "totalFiles" | "totalBytes">> {
  const { connection, signal, trash, vaultId } = writing;
  const total = { totalFiles: 0, totalBytes: 0 };
  for await (const { size } of everyItem(connection, FILES, vaultId, signal, trash)) {
    total.totalFiles += 1;
    total.totalBytes += size;
  }
  return total;
}

/** The chain's state, the files, and who signs for them. The manifest last. */
async function finish(
  { connection, vaultId, store, records, latest }: Writing,
  { pin }: OpenVault,
  { files, folders }: ExportProgress,
): Promise<{ readonly records: number; readonly signedBy: string | null }> {
  const { chain, clock, signer } = vaultRegistry(connection);
  const wanted = { maxAge: 0, minGeneration: latest.generation, hintedTime: latest.after };
  const object = await inVaultTerms(() => chain.readVault(pin.chainObjectId ?? "", wanted));
  const digest = await digestItems(store, { files, folders, records: records.size });
  const createdAt = clock();
  const facts = { createdAt, origin: connection.service.origin, vaultId, ...digest };
  const manifest = renderDocument(renderManifest(facts, chain.network, object));
  const view = toVaultView(object);
  if (!isReached(view, latest))
    throw vaultError("chain_stale", "The chain node's time is before a place that a member has written at");
  // An end that was put off takes the vault's place back, although somebody may have written at the later one.
  const place = laterPlace(placeOf(view), latest);
  const author = authorOf(view, signer, place);
  if (author !== null) {
    const { bytes } = await inVaultTerms(() => makeExportStatement(view, author, manifest, createdAt, place));
    await store.write(STATEMENT, bytes);
  }
  await store.write(MANIFEST, manifest);
  return { records: digest.records, signedBy: author === null ? null : signer.chainAddress };
}

/** null if the vault names no key for this client there, or another one than the client has. */
function authorOf(view: VaultView, { chainAddress, statements }: VaultRegistry["signer"], place: Place): Author | null {
  if (statements === undefined) return null;
  const address = bytesOf(chainAddress);
  const named = findSigner(view, address, place);
  return named !== null && toHex(named) === toHex(statements.publicKey) ? { address, signer: statements } : null;
}

async function* exportFolders(writing: Writing) {
  const { connection, vaultId, store, signal, trash, run } = writing;
  for await (const folder of everyItem(connection, FOLDERS, vaultId, signal, trash)) {
    trackLatestPlace(writing, folder);
    await store.write(folderPath(folder.id), renderDocument(z.parse(exportedFolder, { ...folder, run })));
    yield;
  }
}

interface FetchedFile {
  /** Bytes; "closed": the caller does not reach it. */
  readonly fetched: number | "closed";
  readonly isTrashed: boolean;
}

async function* exportFiles(writing: Writing): AsyncGenerator<FetchedFile, void, undefined> {
  const { connection, vaultId, signal, trash } = writing;
  for await (const file of everyItem(connection, FILES, vaultId, signal, trash)) {
    signal?.throwIfAborted();
    const fetched = await exportFile(writing, file);
    if (fetched !== "gone") yield { fetched, isTrashed: file.trashedAt !== null };
  }
}

/** Tries again with the file's present state, if its version went away between the list and the read. */
async function exportFile(writing: Writing, listed: WireFile): Promise<number | "closed" | "gone"> {
  const { connection, vaultId, signal } = writing;
  try {
    return await exportVersion(writing, listed);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === "trashed") return "closed";
    if (error.code !== "not_found") throw error;
  }
  try {
    const { file } = await callOn(connection, filesGroup.get, { params: { fileId: listed.id } }, { signal });
    requireVault(file, vaultId);
    return await exportVersion(writing, file);
  } catch (error) {
    if (error instanceof ApiError && error.code === "not_found") return "gone";
    throw error;
  }
}

async function exportVersion(writing: Writing, file: WireFile): Promise<number> {
  const { connection, store, signal, run } = writing;
  let fetched = 0;
  if (!(await isThere(store, file))) {
    const { stream } = await openDownload(connection, file.id, { signal }, file.versionId);
    const pieces = iterate(stream);
    await store.write(contentPath(file.id), { [Symbol.asyncIterator]: () => pieces });
    fetched = file.size;
  }
  trackLatestPlace(writing, file);
  await store.write(filePath(file.id), renderDocument(z.parse(exportedFile, { ...file, run })));
  return fetched;
}

/** Readers take nothing of a later place than the export's own. What is no statement stays as it is, for them to refuse. */
function trackLatestPlace(writing: Writing, { shared }: Pick<WireFile | Folder, "shared">): void {
  const version = shared !== null && "version" in shared ? shared.version : null;
  for (const [bytes, parse] of [
    [fromBase64(shared?.entry ?? ""), parseEntryStatement],
    [fromBase64(version ?? ""), parseVersionStatement],
  ] as const)
    try {
      if (bytes !== null) writing.latest = laterPlace(writing.latest, parse(bytes));
    } catch (error) {
      if (!(error instanceof CryptoError)) throw error;
    }
}

/**
 * A version never changes, and only whole ones get their name: length and version id identify it. A read notices if
 * somebody has changed it.
 */
async function isThere(store: ExportStore, { id, size, versionId }: WireFile): Promise<boolean> {
  if ((await store.size(contentPath(id))) !== size || size < HEADER_BYTES) return false;
  const header = new Uint8Array(HEADER_BYTES);
  let filled = 0;
  for await (const piece of (await store.open(contentPath(id))) ?? []) {
    const part = piece.subarray(0, HEADER_BYTES - filled);
    header.set(part, filled);
    filled += part.length;
    if (filled === HEADER_BYTES) break;
  }
  try {
    return parseHeader(header).versionId === versionId;
  } catch {
    return false;
  }
}

const PAGE = 100;

async function exportRecords({ connection, vaultId, store, signal, records }: Writing): Promise<void> {
  const { list } = vaultKeysGroup;
  const load = (place: PageCursor) =>
    callOn(connection, list, { params: { vaultId }, query: { limit: PAGE, ...place } }, { signal });
  for await (const { keys } of everyPage(list.id, load, MAX_PAGES_IN_MEMORY))
    for (const { keyId, record } of keys) {
      const bytes = fromBase64(record);
      if (bytes === null || toHex(await digestOf(bytes)) !== keyId)
        throw damagedExport(`the service shows another record as ${keyId}`);
      await store.write(recordPath(keyId), bytes);
      records.add(`${keyId}.record`);
    }
}

/**
 * Removes files of an earlier call whose originals are gone. A file without a name of an export is somebody's own, and
 * stays. This keeps nothing in memory: a vault may hold a million files.
 */
async function removeOthers({ store, run, records, signal }: Writing): Promise<void> {
  for await (const name of store.list("records"))
    if (itemIdOf("records", name) !== null && !records.has(name)) await store.remove(`records/${name}`);
  for (const folder of ["files", "folders"] as const)
    for await (const name of store.list(folder)) {
      signal?.throwIfAborted();
      const id = itemIdOf(folder, name);
      if (id !== null && (await runOf(store, itemPath(folder, id))) !== run) await store.remove(itemPath(folder, id));
    }
  for await (const name of store.list("content")) {
    const id = itemIdOf("files", name.replace(/\.file$/, ".json"));
    if (id !== null && (await store.size(filePath(id))) === null) await store.remove(contentPath(id));
  }
}

async function runOf(store: ExportStore, path: string): Promise<string | null> {
  try {
    return (await readDocument(store, path, exportedItem, MAX_ITEM)).run;
  } catch (error) {
    if (error instanceof VaultError) return null;
    throw error;
  }
}

function renderManifest(
  facts: Pick<Manifest, "createdAt" | "origin" | "vaultId" | "items" | keyof ItemCounts>,
  configured: NetworkConfiguration,
  { objectId, generation, floor, base, plainNames, owner, members, former }: VaultObject,
): Manifest {
  const { network, chainId, originalPackageId, latestPackageId, packageDigest, keyServerSets } = configured;
  return {
    format: "coffer-export",
    version: "2",
    ...facts,
    network: {
      network,
      chainId,
      originalPackageId,
      latestPackageId,
      packageDigest,
      // API keys of key servers stay here.
      keyServerSets: keyServerSets.map(({ threshold, servers }) => ({
        threshold,
        servers: servers.map(({ objectId, weight, publicKey, aggregatorUrl }) => ({
          objectId,
          weight,
          publicKey,
          ...(aggregatorUrl === undefined ? {} : { aggregatorUrl }),
        })),
      })),
    },
    vault: {
      objectId,
      generation: String(generation),
      floor: String(floor),
      base: String(base),
      plainNames,
      owner: toMember(owner),
      members: members.map(toMember),
      former: former.map(toMember),
    },
  };
}

function toMember({ chainAddress, signingKey, since, endsAt, until }: Omit<VaultObject["owner"], "replacedKeys">) {
  const ends = { endsAt: String(endsAt), until: String(until) };
  return { chainAddress, signingKey: toHex(signingKey), since: String(since), ...ends };
}

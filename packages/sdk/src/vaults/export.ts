/** Copying a shared vault out of the service, so that it opens without it: with the chain, the key servers and a member's key alone. */
import { clientApi as api } from "@coffer/contract";
import { vaultKeysGroup } from "@coffer/contract/shared-vaults";
import type { NetworkConfiguration, VaultObject } from "@coffer/chain";
import * as z from "zod/mini";
import { iterate } from "../byte-body.ts";
import { callOn } from "../call.ts";
import { createHasher, digestOf, fromBase64, toHex } from "../digest.ts";
import { openDownload } from "../download/download.ts";
import { ApiError } from "../errors.ts";
import type { File } from "../file.ts";
import type { Connection } from "../options.ts";
import {
  contentPath,
  damagedExport,
  exportedFile,
  exportedFolder,
  filePath,
  folderPath,
  MANIFEST,
  recordPath,
  renderDocument,
  type ExportStore,
  type Manifest,
} from "./export-layout.ts";
import { inVaultTerms } from "./vault-error.ts";
import { requireOpenVault, vaultSession } from "./vault-session.ts";

export interface ExportProgress {
  readonly files: number;
  readonly folders: number;
  /** Of contents that were fetched by this call. */
  readonly bytes: number;
}

export interface ExportResult extends ExportProgress {
  readonly records: number;
  /** Files in the trash, which only the owner reaches. */
  readonly skipped: number;
}

export interface ExportOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ExportProgress) => void) | undefined;
}

/**
 * Writes everything that the service has of the vault into `store`: key records, signed statements, encrypted names and contents, the trash
 * too, and what the chain said of the vault. Nothing is decrypted, so nothing in it is more readable than at the service; `openExport`
 * verifies and decrypts. A call that was cut off is taken up by the next one: contents that are there are not fetched again. The manifest
 * comes last: an export without one is not finished, and one that is repeated has none until it is finished again.
 * @throws ApiError, IntegrityError for bytes that are not those the service announced, VaultError `damaged` for ids that are not.
 */
export async function exportVault(
  connection: Connection,
  vaultId: string,
  store: ExportStore,
  { signal, onProgress }: ExportOptions = {},
): Promise<ExportResult> {
  const vault = await requireOpenVault(connection, vaultId, { signal });
  const { chain, clock } = vaultSession(connection);
  await store.remove(MANIFEST);
  const writing: Writing = { connection, vaultId, store, signal, paths: new Set() };
  let progress: ExportProgress = { files: 0, folders: 0, bytes: 0 };
  const note = (change: Partial<ExportProgress>): void => {
    progress = { ...progress, ...change };
    onProgress?.(progress);
  };
  for await (const _ of exportFolders(writing)) note({ folders: progress.folders + 1 });
  let skipped = 0;
  for await (const fetched of exportFiles(writing)) {
    if (fetched === null) skipped += 1;
    else note({ files: progress.files + 1, bytes: progress.bytes + fetched });
  }
  // After the files: a file that came last names a key that was there by then.
  const records = await exportRecords(writing);
  const object = await inVaultTerms(() => chain.readVault(vault.pin.chainObjectId ?? "", { maxAge: 0 }));
  await removeOthers(writing);
  const facts = { createdAt: clock(), origin: connection.place.origin, vaultId };
  const counts = { files: progress.files, folders: progress.folders, records, paths: await digestPaths(writing.paths) };
  const { network } = chain;
  await store.write(MANIFEST, renderDocument(renderManifest({ ...facts, ...counts }, network, object)));
  return { ...progress, records, skipped };
}

interface Writing {
  readonly connection: Connection;
  readonly vaultId: string;
  readonly store: ExportStore;
  readonly signal: AbortSignal | undefined;
  /** Of everything that belongs to the export. */
  readonly paths: Set<string>;
}

const PAGE = 100;

async function* exportFolders({ connection, vaultId, store, signal, paths }: Writing) {
  for (const trashed of [false, true])
    for (let cursor: string | null | undefined; cursor !== null;) {
      const query = { vaultId, trashed, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
      const page = await callOn(connection, api.folders.list, { query }, { signal });
      for (const folder of page.folders) {
        const path = folderPath(folder.id);
        await store.write(path, renderDocument(z.parse(exportedFolder, folder)));
        paths.add(path);
        yield;
      }
      cursor = page.nextCursor;
    }
}

/** Bytes that were fetched, file by file; null for one that the caller does not reach. */
async function* exportFiles(writing: Writing): AsyncGenerator<number | null, void, undefined> {
  const { connection, vaultId, signal } = writing;
  for (const trashed of [false, true])
    for (let cursor: string | null | undefined; cursor !== null;) {
      const query = { vaultId, trashed, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
      const page = await callOn(connection, api.files.list, { query }, { signal });
      for (const file of page.files) {
        signal?.throwIfAborted();
        const fetched = await exportFile(writing, file);
        if (fetched !== "gone") yield fetched === "closed" ? null : fetched;
      }
      cursor = page.nextCursor;
    }
}

/** Again with what the file is by then, where its version went away between the list and the read. */
async function exportFile(writing: Writing, listed: File): Promise<number | "closed" | "gone"> {
  const { connection, signal } = writing;
  try {
    return await exportVersion(writing, listed);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === "trashed") return "closed";
    if (error.code !== "not_found") throw error;
  }
  try {
    const { file } = await callOn(connection, api.files.get, { params: { fileId: listed.id } }, { signal });
    return await exportVersion(writing, file);
  } catch (error) {
    if (error instanceof ApiError && error.code === "not_found") return "gone";
    throw error;
  }
}

async function exportVersion({ connection, store, signal, paths }: Writing, file: File): Promise<number> {
  const content = contentPath(file.versionId);
  let fetched = 0;
  // A version never changes, and only whole ones get their name.
  if ((await store.size(content)) !== file.size) {
    const { stream } = await openDownload(connection, file.id, { signal }, file.versionId);
    const pieces = iterate(stream);
    await store.write(content, { [Symbol.asyncIterator]: () => pieces });
    fetched = file.size;
  }
  const path = filePath(file.id);
  await store.write(path, renderDocument(z.parse(exportedFile, file)));
  for (const written of [path, content]) paths.add(written);
  return fetched;
}

async function exportRecords({ connection, vaultId, store, signal, paths }: Writing): Promise<number> {
  let count = 0;
  for (let cursor: string | null | undefined; cursor !== null;) {
    const query = { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
    const page = await callOn(connection, vaultKeysGroup.list, { params: { vaultId }, query }, { signal });
    for (const { keyId, record } of page.keys) {
      const bytes = fromBase64(record);
      if (bytes === null || toHex(await digestOf(bytes)) !== keyId)
        throw damagedExport(`the service shows another record as ${keyId}`);
      await store.write(recordPath(keyId), bytes);
      paths.add(recordPath(keyId));
      count += 1;
    }
    cursor = page.nextCursor;
  }
  return count;
}

/** What an earlier, unfinished call left of versions that are current no more. */
async function removeOthers({ store, paths }: Writing): Promise<void> {
  for (const folder of ["records", "folders", "files", "content"])
    for await (const name of store.list(folder)) {
      const path = `${folder}/${name}`;
      if (!paths.has(path)) await store.remove(path);
    }
}

export async function digestPaths(paths: Iterable<string>): Promise<string> {
  const hasher = await createHasher();
  for (const path of [...paths].sort()) hasher.update(new TextEncoder().encode(`${path}\n`));
  return toHex(hasher.digest());
}

function renderManifest(
  facts: Pick<Manifest, "createdAt" | "origin" | "vaultId" | "files" | "folders" | "records" | "paths">,
  configured: NetworkConfiguration,
  { objectId, generation, floor, plainNames, owner, members, former }: VaultObject,
): Manifest {
  const { network, chainId, originalPackageId, latestPackageId, packageDigest, keyServerSets } = configured;
  return {
    ...{ format: "coffer-export", version: "1", ...facts },
    network: {
      ...{ network, chainId, originalPackageId, latestPackageId, packageDigest },
      // API keys of key servers stay here.
      keyServerSets: keyServerSets.map(({ threshold, servers }) => ({
        threshold,
        servers: servers.map(({ objectId, weight, publicKey, aggregatorUrl }) => ({
          ...{ objectId, weight, publicKey },
          ...(aggregatorUrl === undefined ? {} : { aggregatorUrl }),
        })),
      })),
    },
    vault: {
      ...{ objectId, generation: String(generation), floor: String(floor), plainNames, owner: toMember(owner) },
      members: members.map(toMember),
      former: former.map((entry) => ({ ...toMember(entry), until: String(entry.until) })),
    },
  };
}

function toMember({ chainAddress, signingKey, since }: VaultObject["owner"]) {
  return { chainAddress, signingKey: toHex(signingKey), since: String(since) };
}

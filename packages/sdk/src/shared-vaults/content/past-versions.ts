/** Versions of a file in a shared vault: listed, opened and restored as members signed them, whatever the service says of them. */
import { filesGroup, versionsGroup, type File, type FileVersion } from "@coffer/contract";
import { callOn } from "../../http/call.ts";
import type { DownloadOptions } from "../../transfer/content-headers.ts";
import { openDownload, type Download } from "../../transfer/stored-download.ts";
import { SdkError } from "../../http/errors.ts";
import { everyPage, MAX_PAGES_IN_MEMORY, type PageCursor } from "../../http/every-page.ts";
import type { CallOptions, Connection, UpdateOptions } from "../../connection/options.ts";
import type { Query } from "../../http/endpoint-types.ts";
import { FILES } from "../../storage/items.ts";
import type { File as NamedFile } from "../../storage/item-types.ts";
import { Condition } from "../condition.ts";
import { signedBy } from "../names/authors.ts";
import { openItem, openKeysOf } from "../names/entries.ts";
import { isClosed, isOfOne, nameOne } from "../names/name-reader.ts";
import { findVaultOf, type NamedItem } from "../names/vault-finder.ts";
import type { OpenVault } from "../open-vault.ts";
import { isPadded } from "../rotation/rotate-content.ts";
import { versionSource } from "../rotation/version-source.ts";
import { vaultError } from "../vault-error.ts";
import { inVaultTerms, toVaultError } from "../vault-terms.ts";
import { openShared } from "./encrypted-download.ts";
import { uploadEncrypted } from "./encrypted-codec.ts";
import { fileAt, pastOf, VersionChain } from "./version-chain.ts";

type Page = Awaited<ReturnType<typeof readPage>>;
type VersionsQuery = Query<typeof versionsGroup.versions>;

/** As many as one answer has. */
const PAGE = 100;

/** `storedSize`: as with files. `unreadable`: why this client cannot verify it. */
export type SeenVersion = FileVersion & { readonly storedSize?: number; readonly unreadable?: string };

/**
 * A page of versions, newest first. A version that is not true hides no others.
 * @throws VaultError `vault_changed`; `rolled_back` if the service hides a version that this machine has seen.
 */
export async function listVersions(
  connection: Connection,
  fileId: string,
  query: VersionsQuery,
  options?: CallOptions,
): Promise<Page> {
  const { file, vault } = await findFile(connection, fileId, { ...options, sends: false });
  const read = () => readPage(connection, fileId, query, options);
  const page = await read();
  if (vault === null) {
    if (page.versions.some(({ shared }) => shared !== null))
      throw vaultError("vault_changed", `The service shows versions of a shared vault for ${fileId}, of a public one`);
    return page;
  }
  const work: Work = { connection, vault, file, options };
  try {
    return await verifyPage(work, query, page);
  } catch (error) {
    const failure = toVaultError(error);
    if (!(failure instanceof SdkError) || failure.code !== "rolled_back") throw failure;
    // Somebody on this machine may have changed the file since the service answered.
    return inVaultTerms(async () => verifyPage(work, query, await read()));
  }
}

/** A kept version; null: the file lies in a public vault. It verifies the versions after it, down from the current one. */
export async function openPast(
  connection: Connection,
  fileId: string,
  versionId: string,
  options: DownloadOptions,
): Promise<Download | null> {
  const { signal, vaultId } = options;
  const { file, vault } = await findFile(connection, fileId, { signal, vaultId, sends: false });
  if (vault === null) return null;
  const work: Work = { connection, vault, file, options: { signal } };
  const { shown, isCurrent } = await findVersion(work, versionId.toLowerCase());
  return openShared(connection, isCurrent ? vault : pastOf(vault), fileAt(file, shown), options);
}

/**
 * Reads a kept version, encrypts it again and stores it as the newest; null: the file lies in a public vault. The
 * file's name stays. If the version is the current one, nothing changes.
 */
export async function restorePast(
  connection: Connection,
  fileId: string,
  versionId: string,
  { ifMatch, vaultId, idempotencyKey: _, ...options }: UpdateOptions = {},
): Promise<NamedFile | null> {
  const { file, vault } = await findFile(connection, fileId, { ...options, vaultId, sends: true });
  if (vault === null) return null;
  const { signal } = options;
  new Condition(ifMatch, file.shared).require(file.shared);
  const { shown, isCurrent } = await findVersion({ connection, vault, file, options }, versionId.toLowerCase());
  if (isCurrent) return nameOne(connection, FILES, file, { ...options, vaultId });
  const [past, before] = [pastOf(vault), fileAt(file, shown)];
  const { metadata } = await inVaultTerms(() => openItem(past, "file", before, before.folderId));
  const source = versionSource(connection, past, before, { size: metadata.size, signal });
  const target = {
    kind: "version",
    file,
    contentType: metadata.contentType,
    ifMatch,
    restores: shown.versionId,
  } as const;
  return (await uploadEncrypted(connection, vault, target, source, { signal, padded: isPadded(before) })).file;
}

interface Work {
  readonly connection: Connection;
  readonly vault: OpenVault;
  readonly file: File;
  readonly options: CallOptions | undefined;
}

async function findFile(connection: Connection, fileId: string, { vaultId, sends, ...options }: NamedItem) {
  const { file } = await callOn(connection, filesGroup.get, { params: { fileId } }, options);
  return { file, vault: await findVaultOf(connection, file, { ...options, vaultId, sends }) };
}

function readPage(connection: Connection, fileId: string, query: VersionsQuery, options?: CallOptions) {
  return callOn(connection, versionsGroup.versions, { params: { fileId }, query }, options);
}

async function verifyPage(work: Work, query: VersionsQuery, { versions, nextCursor }: Page): Promise<Page> {
  const { vault, file } = work;
  const [first] = versions;
  if (first === undefined) {
    if (query.cursor !== undefined) return { versions, nextCursor };
    throw vaultError("damaged", `The service shows no version of ${file.id}, not even the current one`);
  }
  const past = pastOf(vault);
  const items = versions.map(({ shared }) => ({ id: file.id, vaultId: vault.id, shared }));
  try {
    await openKeysOf(past, items);
  } catch (error) {
    const failure = toVaultError(error);
    if (!isClosed(failure)) throw failure;
    return { versions: versions.map((version) => unverified(version, failure.code)), nextCursor };
  }
  const chain = query.cursor === undefined ? newChain(work) : (await walkTo(work, first.versionId)).chain;
  const verified: SeenVersion[] = [];
  for (const [at, version] of versions.entries()) {
    const isCurrent = at === 0 && query.cursor === undefined;
    verified.push(await leniently(version, isCurrent, () => verify(past, chain, file, version)));
  }
  return { versions: verified, nextCursor };
}

async function verify(past: OpenVault, chain: VersionChain, file: File, version: FileVersion): Promise<SeenVersion> {
  const statement = await chain.append(version);
  const before = fileAt(file, version);
  const { metadata } = await openItem(past, "file", before, before.folderId);
  const { size: storedSize } = version;
  const facts = { number: Number(statement.sequence), contentType: metadata.contentType, author: signedBy(statement) };
  return { ...version, ...facts, size: metadata.size, storedSize };
}

/** An older version than this machine has seen, in the current one's place, is an attack, and not one row's error. */
async function leniently(
  version: FileVersion,
  isCurrent: boolean,
  work: () => Promise<SeenVersion>,
): Promise<SeenVersion> {
  try {
    return await work();
  } catch (error) {
    const failure = toVaultError(error);
    const isOne = failure instanceof SdkError && isOfOne(failure);
    if (!isOne || (isCurrent && failure.code === "rolled_back")) throw failure;
    return unverified(version, failure.code);
  }
}

/** Nothing of it is the service's word, except its id, when and how it came, and its stored bytes. */
function unverified(version: FileVersion, unreadable: string): SeenVersion {
  return { ...version, contentType: "application/octet-stream", author: null, unreadable };
}

function newChain({ vault, file }: Work): VersionChain {
  return new VersionChain(vault, file.id);
}

/** @throws VaultError for a version that does not verify; ApiError `not_found` for one that the service has not. */
async function findVersion(work: Work, versionId: string): Promise<{ shown: FileVersion; isCurrent: boolean }> {
  const { chain, shown, isCurrent } = await walkTo(work, versionId);
  await inVaultTerms(() => chain.append(shown));
  return { shown, isCurrent };
}

/** The chain of all versions before that one in the list. One that is not true breaks it, and hides no others. */
async function walkTo(
  work: Work,
  versionId: string,
): Promise<{ chain: VersionChain; shown: FileVersion; isCurrent: boolean }> {
  const { connection, file, options } = work;
  const chain = newChain(work);
  let isCurrent = true;
  const load = (place: PageCursor) => readPage(connection, file.id, { limit: PAGE, ...place }, options);
  for await (const { versions } of everyPage(versionsGroup.versions.id, load, MAX_PAGES_IN_MEMORY))
    for (const shown of versions) {
      if (shown.versionId === versionId) return { chain, shown, isCurrent };
      try {
        await chain.append(shown);
      } catch (error) {
        const failure = toVaultError(error);
        if (isCurrent || !(failure instanceof SdkError) || !isOfOne(failure)) throw failure;
      }
      isCurrent = false;
    }
  const { stream } = await openDownload(connection, file.id, options, versionId);
  await stream.cancel();
  throw vaultError("damaged", `The service has version ${versionId} of ${file.id}, and does not list it`);
}

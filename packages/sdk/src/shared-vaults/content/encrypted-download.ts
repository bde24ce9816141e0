/**
 * Downloads from shared vaults: it gives every byte only after everything before it in the reading order is true
 * (file-format §10).
 */
import { filesGroup } from "@coffer/contract";
import { openRangeReader, parseVersionStatement } from "@coffer/crypto";
import { callOn } from "../../http/call.ts";
import { fromBase64 } from "../../transfer/digest.ts";
import { openDownload, openStored, type Download, type StoredDownload } from "../../transfer/stored-download.ts";
import { openPlainDownload, requirePlain } from "../../transfer/plain-download.ts";
import { ContractError, isAnswered } from "../../http/errors.ts";
import type { Connection } from "../../connection/options.ts";
import { counted, describe, unlock, type Reading, type EncryptedDownloadOptions } from "./version-reader.ts";
import { openItem, placeOf } from "../names/entries.ts";
import { viewNaming } from "../names/signer-view.ts";
import type { OpenVault } from "../open-vault.ts";
import { findVaultOf } from "../names/vault-finder.ts";
import { CLOSED } from "../service-view.ts";
import { vaultError } from "../vault-error.ts";
import { inVaultTerms } from "../vault-terms.ts";
import { VaultError } from "../../http/errors.ts";
import { parseFileHeader, type ShownFile } from "./file-header.ts";
import { openWhole } from "./whole-download.ts";
import type { DownloadOptions } from "../../transfer/content-headers.ts";

export type { EncryptedDownloadOptions } from "./version-reader.ts";

/**
 * From a public vault it gives the stored bytes. A whole file of a shared vault costs one request: its statements come
 * with the bytes. It gives no byte before they are true.
 */
export async function openEncryptedDownload(
  connection: Connection,
  fileId: string,
  options: EncryptedDownloadOptions,
): Promise<Download> {
  if (options.range !== undefined) return openKnown(connection, fileId, options);
  const shows = { progress: false };
  const stored = await openCurrent(connection, fileId, options, shows);
  if (stored === null) return openKnown(connection, fileId, options);
  let taken = false;
  try {
    const shown = parseFileHeader(stored.shown, fileId);
    const file = shown ?? (await callOn(connection, filesGroup.get, { params: { fileId } }, options)).file;
    const vault = await findVault(connection, file, options);
    // If bytes of a shared vault come without their statements, it asks for them again, by the version's id.
    if (vault !== null && shown === null) return await openKnown(connection, fileId, options);
    if (vault !== null) stored.pinVersion(file.versionId);
    shows.progress = vault === null;
    const opened =
      vault === null ? await requirePlain(stored) : await openShared(connection, vault, file, options, stored);
    taken = true;
    return opened;
  } catch (error) {
    if (error instanceof VaultError && error.code === "rolled_back")
      return await openKnown(connection, fileId, options);
    throw error;
  } finally {
    if (!taken) await stored.download.stream.cancel();
  }
}

/**
 * Null for a client that the service does not list as a member. A request to the chain and the key servers then shows
 * the reason.
 */
async function openCurrent(
  connection: Connection,
  fileId: string,
  { onProgress, signal, retries }: DownloadOptions,
  shows: { readonly progress: boolean },
): Promise<StoredDownload | null> {
  const progressed: DownloadOptions["onProgress"] = (progress) => {
    if (shows.progress) onProgress?.(progress);
  };
  try {
    return await openStored(connection, fileId, { signal, retries, onProgress: progressed });
  } catch (error) {
    if (isAnswered(error) && CLOSED.has(error.code)) return null;
    throw error;
  }
}

/** The vault that the service shows the file in; null for a public one. */
function findVault(
  connection: Connection,
  file: ShownFile,
  { signal, vaultId }: DownloadOptions,
): Promise<OpenVault | null> {
  return findVaultOf(connection, file, { signal, vaultId, sends: false });
}

async function openKnown(connection: Connection, fileId: string, options: EncryptedDownloadOptions): Promise<Download> {
  const { file } = await callOn(connection, filesGroup.get, { params: { fileId } }, { signal: options.signal });
  const vault = await findVault(connection, file, options);
  if (vault === null) return openPlainDownload(connection, fileId, options);
  try {
    return await openShared(connection, vault, file, options);
  } catch (error) {
    // The shown version may be void by now, because a rotation has ended: then there is a newer version.
    if (!(error instanceof VaultError) || error.code !== "rolled_back") throw error;
    const { file: again } = await callOn(
      connection,
      filesGroup.get,
      { params: { fileId } },
      { signal: options.signal },
    );
    if (again.versionId === file.versionId && again.shared?.entry === file.shared?.entry) throw error;
    return openShared(connection, vault, again, options);
  }
}

/**
 * Opens the version that `file` shows, as the service answered it; `stored`: its bytes, if they are on their way.
 * Verifies its statements before it resolves.
 */
export function openShared(
  connection: Connection,
  vault: OpenVault,
  file: ShownFile,
  options: EncryptedDownloadOptions,
  stored: StoredDownload | null = null,
): Promise<Download> {
  return inVaultTerms(() => openFile(connection, vault, file, options, stored));
}

async function openFile(
  connection: Connection,
  vault: OpenVault,
  file: ShownFile,
  options: EncryptedDownloadOptions,
  stored: StoredDownload | null,
): Promise<Download> {
  const bytes = fromBase64(file.shared?.version ?? "");
  if (file.shared === null || bytes === null)
    throw vaultError("not_encrypted", `The service shows file ${file.id} of a shared vault without its statement`);
  const { metadata, statement: entry, view: held } = await openItem(vault, "file", file, placeOf(file));
  const claim = parseVersionStatement(bytes);
  // One view for the whole download: a floor that rises meanwhile does not take away a version that was current at
  // the beginning.
  const view = await viewNaming((wanted) => vault.view(wanted), [claim], held);
  if (claim.generation < view.floor)
    throw vaultError("rolled_back", "The version is from before the vault's last rotation", { step: "statement" });
  const reading: Reading = { connection, vault, file, statement: claim, entry, metadata, view, options };
  return options.range === undefined ? openWhole(reading, stored) : openRange(reading, options.range);
}

async function openRange(reading: Reading, wanted: NonNullable<DownloadOptions["range"]>): Promise<Download> {
  const { connection, vault, file, options } = reading;
  const { signal, retries } = options;
  const reader = await openRangeReader(vault.platform, {
    unlock: (start) => unlock(reading, start),
    fetchBytes: async (from, to) => {
      // A file may end before `to`; the service refuses a range that begins behind its end.
      const range = { offset: from, length: Math.min(to, file.size) - from };
      return (await openDownload(connection, file.id, { range, signal, retries }, file.versionId)).stream;
    },
    ...(signal === undefined ? {} : { signal }),
  });
  // An entry and a version that are each true, but do not belong together: a whole read finds out at its end.
  if (reader.contentSize !== reading.metadata.size)
    throw vaultError("damaged", "The file does not have the size in its entry", { step: "metadata" });
  const { offset, length } = wanted;
  if (
    !Number.isSafeInteger(offset) ||
    offset < 0 ||
    offset > reader.contentSize ||
    (length !== undefined && length <= 0)
  )
    throw new ContractError("request", filesGroup.content.id, ["range: not inside the file"]);
  const end = Math.min(reader.contentSize, length === undefined ? reader.contentSize : offset + length);
  return describe(reading, { offset, length: end - offset }, counted(reading, reader.read(offset, end), end - offset));
}

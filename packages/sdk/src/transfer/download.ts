/** Downloads by the kind of vault: decrypted here from a shared one, as stored from a public one, or as stored on request. */
import type { Connection } from "../connection/options.ts";
import type * as EncryptedDownloads from "../shared-vaults/content/encrypted-download.ts";
import { sharedCode } from "../connection/shared-code.ts";
import { openPlainDownload, requirePlain } from "./plain-download.ts";
import { openStored, type Download } from "./stored-download.ts";

/** @throws VaultError in a shared vault, and as {@link requirePlain}. */
export async function openFileDownload(
  connection: Connection,
  fileId: string,
  options: EncryptedDownloads.EncryptedDownloadOptions = {},
): Promise<Download> {
  const { ciphertext = false, versionId } = options;
  if (ciphertext) return (await openStored(connection, fileId, options, versionId)).download;
  if (connection.sharedVaults === null)
    return versionId === undefined
      ? openPlainDownload(connection, fileId, options)
      : requirePlain(await openStored(connection, fileId, options, versionId));
  const { openEncryptedDownload, openPast } = await sharedCode(connection);
  if (versionId === undefined) return openEncryptedDownload(connection, fileId, options);
  const past = await openPast(connection, fileId, versionId, options);
  return past ?? requirePlain(await openStored(connection, fileId, options, versionId));
}

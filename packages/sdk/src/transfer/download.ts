/** Downloads by the kind of vault: decrypted here from a shared one, as stored from a public one, or as stored on request. */
import type { Connection } from "../connection/options.ts";
import type * as SharedDownloads from "../shared-vaults/content/encrypted-download.ts";
import { openDownload, type Download } from "./stored-download.ts";
import { openVersion } from "./open-version.ts";
import { openPublicDownload } from "./plain-download.ts";
import { sharedCode } from "../connection/shared-code.ts";

export async function openFileDownload(
  connection: Connection,
  fileId: string,
  options: SharedDownloads.SharedDownloadOptions = {},
): Promise<Download> {
  const { versionId } = options;
  if (options.ciphertext === true) return openDownload(connection, fileId, options, versionId);
  if (versionId !== undefined) return openVersion(connection, fileId, versionId, options);
  if (connection.sharedVaults !== null) {
    return (await sharedCode(connection)).openSharedDownload(connection, fileId, options);
  }
  return openPublicDownload(connection, fileId, options);
}

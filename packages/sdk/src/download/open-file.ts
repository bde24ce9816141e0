/** Downloads by the kind of vault: decrypted here from a shared one, as stored from a public one, or as stored on request. */
import type { Connection } from "../options.ts";
import type * as SharedDownloads from "../vaults/content/download.ts";
import { openDownload, type Download } from "./download.ts";
import { openPublicDownload } from "./public-download.ts";
import { sharedCode } from "../shared-code.ts";

export async function openFileDownload(
  connection: Connection,
  fileId: string,
  options: SharedDownloads.SharedDownloadOptions = {},
): Promise<Download> {
  const { versionId } = options;
  if (options.ciphertext === true) return openDownload(connection, fileId, options, versionId);
  if (versionId !== undefined)
    return (await import("./open-version.ts")).openVersion(connection, fileId, versionId, options);
  if (connection.sharedVaults !== null) {
    shared ??= await sharedCode(connection).downloads();
    return shared.openSharedDownload(connection, fileId, options);
  }
  return openPublicDownload(connection, fileId, options);
}

/** Kept: loading a module again costs as much as opening a small file. */
let shared: typeof SharedDownloads | undefined;

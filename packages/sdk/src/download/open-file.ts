/** Downloads by where the file lies: decrypted here from a shared vault, as they are stored from a public one. */
import type { Connection } from "../options.ts";
import type { SharedDownloadOptions } from "../vaults/download.ts";
import { openDownload, type Download } from "./download.ts";

export async function openFileDownload(
  connection: Connection,
  fileId: string,
  options: SharedDownloadOptions = {},
): Promise<Download> {
  if (connection.sharedVaults !== null) {
    const { openSharedDownload } = await import("../vaults/download.ts");
    return openSharedDownload(connection, fileId, options);
  }
  return openDownload(connection, fileId, options);
}

/** Content of a version that was replaced. */
import type { Connection } from "../connection/options.ts";
import { sharedCode } from "../connection/shared-code.ts";
import type { DownloadOptions } from "./content-headers.ts";
import { openStored, type Download } from "./stored-download.ts";
import { requirePlain } from "./plain-download.ts";

/** @throws VaultError in a shared vault, and as {@link requirePlain}. */
export async function openVersion(
  connection: Connection,
  fileId: string,
  versionId: string,
  options: DownloadOptions,
): Promise<Download> {
  if (connection.sharedVaults !== null) {
    const { openPast } = await sharedCode(connection);
    const opened = await openPast(connection, fileId, versionId, options);
    if (opened !== null) return opened;
  }
  return requirePlain(await openStored(connection, fileId, options, versionId));
}

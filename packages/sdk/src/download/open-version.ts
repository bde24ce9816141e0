/** Content of a version that was replaced. */
import { clientApi as api } from "@coffer/contract";
import { callOn } from "../call.ts";
import { VaultError } from "../errors.ts";
import type { Connection } from "../options.ts";
import { sharedCode } from "../shared-code.ts";
import type { DownloadOptions } from "./content-facts.ts";
import { openStored, type Download } from "./download.ts";
import { requirePlain } from "./public-download.ts";

/** @throws VaultError `shared_vault` in a shared vault, and as {@link requirePlain}. */
export async function openVersion(
  connection: Connection,
  fileId: string,
  versionId: string,
  options: DownloadOptions,
): Promise<Download> {
  if (connection.sharedVaults !== null) {
    const { signal, retries, vaultId } = options;
    const { file } = await callOn(connection, api.files.get, { params: { fileId } }, { signal, retries });
    const { findVaultOf } = await sharedCode(connection).places();
    const vault = await findVaultOf(connection, file, { signal, vaultId, sends: false });
    if (vault !== null)
      throw new VaultError("shared_vault", "The file lies in a shared vault, which gives its current version alone", {
        ...{ retryable: false, step: null, cause: undefined },
        nextStep: "Download it without versionId.",
      });
  }
  return requirePlain(await openStored(connection, fileId, options, versionId));
}

/** Content of public vaults, as it is stored: never the encrypted bytes of a file that this client cannot open. */
import { FILE_MAGIC } from "@coffer/contract";
import { VaultError } from "../http/errors.ts";
import type { Connection } from "../connection/options.ts";
import { openStored, type Download, type StoredDownload } from "./stored-download.ts";
import type { DownloadOptions } from "./content-headers.ts";
import { HOW_TO_OPEN } from "../connection/how-to-open.ts";

/** @throws VaultError `shared_vault`, as {@link requirePlain}. */
export async function openPlainDownload(
  connection: Connection,
  fileId: string,
  options: DownloadOptions,
): Promise<Download> {
  const stored = await openStored(connection, fileId, options);
  if (stored.shown === null) return requirePlain(stored);
  await stored.download.stream.cancel();
  throw encrypted();
}

/**
 * The download, unless its file begins as an encrypted one does. The bytes decide, whatever the service says of the
 * file.
 * @throws VaultError `shared_vault`: the download is cancelled then.
 */
export async function requirePlain({ download, readStart }: StoredDownload): Promise<Download> {
  let isPlain = false;
  try {
    const start = await readStart(FILE_MAGIC.length);
    isPlain = start.length < FILE_MAGIC.length || start.some((byte, at) => byte !== FILE_MAGIC[at]);
    if (isPlain) return download;
  } finally {
    if (!isPlain) await download.stream.cancel();
  }
  throw encrypted();
}

function encrypted(): VaultError {
  return new VaultError("shared_vault", "These are the encrypted bytes of a shared vault's file, and not the file", {
    retryable: false,
    step: null,
    cause: undefined,
    nextStep: `${HOW_TO_OPEN} For the encrypted bytes, ask with ciphertext: true.`,
  });
}

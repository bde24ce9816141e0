/** One upload from its source to its receipt: its attempts, its journal and what it frees, whichever codec encodes it. */
import type { Connection } from "../connection/options.ts";
import { ContractError } from "../http/errors.ts";
import { CHANGE_ATTEMPTS } from "../http/retry.ts";
import { unlessStored } from "../http/repeated-change.ts";
import type { KeptUpload } from "./journals.ts";
import { sendUpload, type SendOptions } from "./sender.ts";
import type { Source } from "./source.ts";
import { discardUpload, endUpload } from "./tus-session.ts";
import type { UploadCodec, UploadResult } from "./upload-codec.ts";

export interface RunOptions extends SendOptions {
  /** Keeps the upload over a crash. null: nothing keeps it. */
  readonly journal?: KeptUpload | null | undefined;
}

/** Closes the source and the journal. After a failure the journal keeps only what a later call can go on with. */
export async function runUpload(
  connection: Connection,
  source: Source,
  options: RunOptions,
  openCodec: () => Promise<UploadCodec>,
): Promise<UploadResult> {
  const { journal = null, partBytes = 1 } = options;
  try {
    if (!Number.isInteger(partBytes) || partBytes < 1)
      throw new ContractError("request", "files.upload", ["partBytes: expected a whole number above 0"]);
    if (journal !== null && journal.outdated !== null) await endUpload(connection, journal.outdated);
    const result = await runAttempts(connection, await openCodec(), options);
    await journal?.remove();
    return result;
  } catch (error) {
    if (journal?.survives(error) === false) await journal.remove();
    throw error;
  } finally {
    await source.close().finally(() => journal?.close());
  }
}

async function runAttempts(connection: Connection, codec: UploadCodec, options: RunOptions): Promise<UploadResult> {
  for (let attempt = 1; ; attempt += 1)
    try {
      const upload = await codec.encode();
      const send = () => sendUpload(connection, upload, options);
      const file = upload.stored ?? (await unlessStored(send(), () => codec.findStored()));
      const result = await codec.receipt(file);
      // Always the last report, also of what is empty, or what an earlier process has stored.
      options.onProgress?.({ bytes: result.bytes, total: result.bytes, storedBytes: file.size });
      return result;
    } catch (error) {
      if (attempt === CHANGE_ATTEMPTS || !(await codec.recover(error))) throw error;
      // The next attempt is another version: nothing of this one may be sent under the same key again.
      await discardUpload(connection, options.journal ?? null);
    }
}

/** An upload with a journal. After a failure it keeps only what a later call can go on with. */
import type { Connection } from "../connection/options.ts";
import { endUpload } from "./tus-session.ts";
import type { KeptUpload, UploadJournal } from "./journals.ts";

/** Sends with a journal and closes it. It keeps what can go on after a failure, and forgets everything else. */
export async function sendKept<Result>(
  connection: Connection,
  kept: KeptUpload | null,
  send: (journal: UploadJournal | undefined) => Promise<Result>,
): Promise<Result> {
  try {
    if (kept?.outdated != null) await endUpload(connection, kept.outdated);
    const result = await send(kept ?? undefined);
    await kept?.remove();
    return result;
  } catch (error) {
    if (kept?.survives(error) === false) await kept.remove();
    throw error;
  } finally {
    await kept?.close();
  }
}

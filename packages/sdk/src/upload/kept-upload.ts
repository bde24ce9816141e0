/** An upload with a journal: what a failure leaves of it is kept only where it can be taken up. */
import type { Connection } from "../options.ts";
import { endUpload } from "./upload-session.ts";
import type { KeptUpload, UploadJournal } from "../journals.ts";

/** Sends with a journal and closes it. What can be taken up after a failure is kept; everything else is forgotten. */
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

/** Many uploads in one call. */
import { filesGroup } from "@coffer/contract";
import { SdkError } from "../http/errors.ts";
import type { Connection } from "../connection/options.ts";
import { type Fields, refuseUnknownFields } from "../http/required-fields.ts";
import { Batching } from "./batch.ts";
import type { UploadInput, UploadManyOptions } from "./upload-options.ts";
import { sendUpload } from "./upload.ts";
import type { UploadOutcome } from "./upload-codec.ts";

/** Uploads at the same time: while one batch is on its way, the next fills. */
const LANES = 200;

const OPTIONS: Fields<UploadManyOptions> = { signal: true, onProgress: true, retries: true, padded: true };

/** The outcomes are in the order of the inputs. Rejects when the signal aborts, and with what is no SdkError. */
export async function uploadMany(
  connection: Connection,
  inputs: Iterable<UploadInput>,
  options: UploadManyOptions = {},
): Promise<UploadOutcome[]> {
  refuseUnknownFields(filesGroup.upload.id, options, OPTIONS);
  const { onProgress, ...each } = options;
  const all = [...inputs];
  const batching = new Batching(connection, each);
  const outcomes: UploadOutcome[] = [];
  let [next, done] = [0, 0];
  const lane = async (): Promise<void> => {
    for (let at = next++, input = all[at]; input !== undefined; at = next++, input = all[at]) {
      const batch = await batching.open();
      try {
        outcomes[at] = await outcomeOf(sendUpload(connection, input, { ...each, batch }));
      } finally {
        batch.leave();
      }
      each.signal?.throwIfAborted();
      done += 1;
      onProgress?.({ files: done, total: all.length });
    }
  };
  await Promise.all(Array.from({ length: Math.min(LANES, all.length) }, lane));
  return outcomes;
}

async function outcomeOf(uploading: Promise<NonNullable<UploadOutcome["result"]>>): Promise<UploadOutcome> {
  try {
    return { result: await uploading, error: null };
  } catch (error) {
    if (error instanceof SdkError) return { result: null, error };
    throw error;
  }
}

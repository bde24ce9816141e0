/** Many uploads in one call, the small ones in batches. */
import { filesGroup } from "@coffer/contract";
import { inLanes } from "../http/concurrency.ts";
import { SdkError } from "../http/errors.ts";
import type { Connection } from "../connection/options.ts";
import { type Fields, refuseUnknownFields } from "../http/required-fields.ts";
import { UploadBatches } from "./batch.ts";
import type { UploadOutcome } from "./upload-codec.ts";
import type { UploadInput, UploadManyOptions } from "./upload-options.ts";
import { uploadInput } from "./upload.ts";

/** Uploads at the same time: while one batch is on its way, the next fills. */
const LANES = 200;

export const UPLOAD_MANY_OPTIONS: Fields<UploadManyOptions> = {
  signal: true,
  onProgress: true,
  retries: true,
  padded: true,
};

/** The outcomes are in the order of the inputs. Rejects when the signal aborts, and with what is no SdkError. */
export async function uploadMany(
  connection: Connection,
  inputs: Iterable<UploadInput>,
  options: UploadManyOptions = {},
): Promise<UploadOutcome[]> {
  refuseUnknownFields(filesGroup.upload.id, options, UPLOAD_MANY_OPTIONS);
  const { onProgress, ...each } = options;
  const all = [...inputs];
  const batches = new UploadBatches(connection, each);
  const outcomes: UploadOutcome[] = [];
  let done = 0;
  await inLanes(all.entries(), Math.min(LANES, all.length), async ([at, input]) => {
    outcomes[at] = await batches.join(async (batch) => {
      try {
        return { result: await uploadInput(connection, input, { ...each, batch }), error: null };
      } catch (error) {
        if (error instanceof SdkError) return { result: null, error };
        throw error;
      }
    });
    each.signal?.throwIfAborted();
    done += 1;
    onProgress?.({ files: done, total: all.length });
  });
  return outcomes;
}

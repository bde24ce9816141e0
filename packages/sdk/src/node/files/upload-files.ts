/** Several files of this machine in one call. */
import { isError } from "@coffer/contract";
import type { FileHandle } from "node:fs/promises";
import { connectionOf, type Client } from "../../client.ts";
import { inLanes } from "../../http/concurrency.ts";
import { type Fields, refuseUnknownFields } from "../../http/required-fields.ts";
import type { ProfileStore } from "../../store/profile-store.ts";
import { UploadBatches, type BatchSlot } from "../../transfer/batch.ts";
import type { UploadResult } from "../../transfer/upload-codec.ts";
import { UPLOAD_MANY_OPTIONS } from "../../transfer/upload-many.ts";
import { MAX_BATCHED_BYTES, type UploadManyOptions } from "../../transfer/upload-options.ts";
import { upload } from "../../transfer/upload.ts";
import { openFileSource } from "./file-source.ts";
import { requireTarget, uploadFile, type UploadFileOptions } from "./upload-file.ts";

/** A file of this machine that becomes a new one. */
export interface LocalUpload extends Pick<
  UploadFileOptions,
  "vaultId" | "folderId" | "name" | "contentType" | "ifAbsent"
> {
  /** Path of the file here. */
  readonly path: string;
  /**
   * Opens the file when its turn has come; the handle is closed here, and `path` then only names it. It may be called twice.
   * Default: `path` is opened.
   */
  readonly open?: (() => Promise<FileHandle>) | undefined;
}

/** For `uploadFiles`. */
export interface UploadFilesOptions extends UploadManyOptions {
  /** Keeps uploads that are cut off, as in `uploadFile`. Default: `fileStore()`. */
  readonly store?: ProfileStore | undefined;
}

/** What became of one file. One of `result` and `error` is null. */
export interface LocalUploadOutcome {
  /** As it was given. */
  readonly path: string;
  /** The stored file with its receipt. null: the upload failed. */
  readonly result: UploadResult | null;
  /** Why it failed: an SdkError, or the error of whatever opened or read the file here. null: it did not. */
  readonly error: Error | null;
}

const FILE_FIELDS: Fields<LocalUpload> = {
  path: true,
  open: true,
  vaultId: true,
  folderId: true,
  name: true,
  contentType: true,
  ifAbsent: true,
};
const OPTIONS: Fields<UploadFilesOptions> = { ...UPLOAD_MANY_OPTIONS, store: true };

/** Files that go in batches, at once. They are in memory: together at most 25 MiB. */
const SMALL_LANES = 100;
/** Files that go by themselves, at once. Each takes up to 32 MiB of memory. */
const LARGE_LANES = 4;

/**
 * Uploads files of this machine as new ones: up to 256 KiB many in a request, and larger ones as `uploadFile` does it, a few at
 * once. Each has its own outcome, in the order of the files: one that fails stops no other.
 * @throws SdkError `aborted` when the signal aborts. What is stored by then stays.
 *
 * @example
 * ```ts
 * const outcomes = await uploadFiles(client, ["a.txt", "b.pdf"].map((path) => ({ path, vaultId })));
 * for (const { path, error } of outcomes) if (error !== null) console.error(path, error.message);
 * ```
 */
export async function uploadFiles(
  client: Client,
  files: Iterable<LocalUpload>,
  options: UploadFilesOptions = {},
): Promise<LocalUploadOutcome[]> {
  refuseUnknownFields("uploadFiles", options, OPTIONS);
  const { store, onProgress, ...each } = options;
  const connection = connectionOf(client);
  const all = [...files];
  for (const file of all) refuseUnknownFields("uploadFiles", file, FILE_FIELDS);
  const batches = new UploadBatches(connection, each);
  const outcomes: LocalUploadOutcome[] = [];
  const large: (readonly [number, LocalUpload])[] = [];
  let done = 0;
  const settle = async (at: number, file: LocalUpload, work: () => Promise<UploadResult | null>): Promise<void> => {
    each.signal?.throwIfAborted();
    const outcome = await outcomeOf(file, work);
    each.signal?.throwIfAborted();
    if (outcome === null) {
      large.push([at, file]);
      return;
    }
    outcomes[at] = outcome;
    done += 1;
    onProgress?.({ files: done, total: all.length });
  };
  const uploadSmall = async ({ path, open, ...place }: LocalUpload, batch: BatchSlot): Promise<UploadResult | null> => {
    const handle = await open?.();
    const target = await requireTarget(path, { ...place, handle });
    const source = await openFileSource(path, handle);
    if (source.size <= MAX_BATCHED_BYTES) return upload(connection, target, source, { ...each, batch });
    await source.close();
    return null;
  };
  await inLanes(all.entries(), Math.min(SMALL_LANES, all.length), ([at, file]) =>
    settle(at, file, () => batches.join((batch) => uploadSmall(file, batch))),
  );
  await inLanes(large, Math.min(LARGE_LANES, large.length), ([at, file]) =>
    settle(at, file, async () => {
      const { path, open, ...place } = file;
      return uploadFile(client, path, { ...each, ...place, store, handle: await open?.() });
    }),
  );
  return outcomes;
}

/** null: it is too large for a batch. */
async function outcomeOf(
  { path }: LocalUpload,
  work: () => Promise<UploadResult | null>,
): Promise<LocalUploadOutcome | null> {
  try {
    const result = await work();
    return result === null ? null : { path, result, error: null };
  } catch (error) {
    if (!isError(error)) throw error;
    return { path, result: null, error };
  }
}

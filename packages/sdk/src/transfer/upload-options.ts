/** The input of an upload. */
import type { ByteBody } from "../http/accepted-bytes.ts";

/** The largest upload in one request, unless the caller names a part's size. Bytes. */
export const WHOLE_BYTES = 8 * 1024 * 1024;

/** Default size of a part. Two of them bound the memory. Bytes. */
export const PART_BYTES = 16 * 1024 * 1024;

/** The largest upload that joins a batch, in bytes. Larger ones gain nothing. */
export const MAX_BATCHED_BYTES = 256 * 1024;

/** A shared vault's content up to this size has a digest in its signed statement (encryption design §1). Bytes. */
export const DIGEST_BYTES = 64 * 1024 * 1024;

interface Content {
  /**
   * The bytes: a string (its UTF-8), a buffer or any view of one, a Blob or File, a Response, a stream. Anything else is
   * refused with `invalid_request` before anything is sent.
   */
  readonly body: ByteBody;
  /** Bytes of a stream: above 8 MiB a resume after a failure needs it. Ignored for a body that has a size of its own. Default: unknown. */
  readonly size?: number | undefined;
  /**
   * Media type, such as `text/plain`. Default: that of a Blob, File or Response, else `application/octet-stream`, and
   * for a version that of the one before.
   */
  readonly contentType?: string | undefined;
}

/** A new file. */
export interface UploadInput extends Content {
  /**
   * UUID of the vault. Default: the folder's vault, and without a folder the account's default vault, which is public.
   * Clients with `sharedVaults` have no default: name a vault, or a folder that this machine has seen (`vault_required`).
   * `undefined` is refused: it may come from a forgotten `await`.
   */
  readonly vaultId?: string;
  /** UUID of the folder. Default: the top of the vault. `undefined` is refused. */
  readonly folderId?: string;
  /** Name of the file: at most 255 bytes of UTF-8. */
  readonly name: string;
  /** Fail with `precondition_failed` when the name is taken (`If-None-Match: *`). Default: false, it fails with `name_exists`. */
  readonly ifAbsent?: boolean | undefined;
}

/** A new version of a file. */
export interface ReplaceInput extends Content {
  /**
   * The vault that the file is in. Clients with `sharedVaults` send nothing if the service shows the file in another
   * one (`vault_changed`). They also need it for a file that this machine has not seen (`vault_required`). Default: the vault
   * that the service names.
   */
  readonly vaultId?: string;
  /**
   * The `tag` of the file or download that is to be replaced; in a public vault also the content's entity tag, as
   * `download.etag` has it. `*`: whatever is newest. Default: what this call itself has read of a shared vault's file, and
   * in a public vault whatever is newest.
   */
  readonly ifMatch?: string | undefined;
  /** false: the content before is gone at once, and no version of it stays. For an account's owner, in a public vault. Default: true. */
  readonly keep?: boolean | undefined;
}

/** Bytes on their way. `bytes` goes back when a part must be sent again. The last report of a transfer that succeeds has `bytes` equal to `total`. */
export interface Progress {
  /** Bytes of content that were moved so far. */
  readonly bytes: number;
  /** Bytes of the whole content. null: unknown before the end. */
  readonly total: number | null;
  /** Of an upload: the bytes that are stored for it so far. A shared vault's are encrypted, and some more than those of the content. */
  readonly storedBytes?: number | undefined;
}

/** Uploads that have ended, of all. */
export interface ManyProgress {
  /** Files that are stored or have failed. */
  readonly files: number;
  /** Files in all. */
  readonly total: number;
}

/** For many uploads in one call. */
export interface UploadManyOptions {
  /** Ends all uploads when it aborts. What is stored by then stays. Default: only the stall limit ends them. */
  readonly signal?: AbortSignal | undefined;
  /** Called as files end. Default: no function. */
  readonly onProgress?: ((progress: ManyProgress) => void) | undefined;
  /** Repeats of a request that moved nothing. Default: `retry.limit` of the client, which is 4. */
  readonly retries?: number | undefined;
  /** In a shared vault: hides the size of the content, which then takes up to 12 % more. Default: false. */
  readonly padded?: boolean | undefined;
}

/** For an upload. */
export interface UploadOptions {
  /** Ends the upload when it aborts, and frees its space. Default: only the stall limit ends it. */
  readonly signal?: AbortSignal | undefined;
  /** Names the creation; see {@link CallOptions.idempotencyKey}. Default: random, once per upload. */
  readonly idempotencyKey?: string | undefined;
  /** Called as bytes move. Default: no function. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Repeats of a request that moved nothing. Default: `retry.limit` of the client, which is 4. */
  readonly retries?: number | undefined;
  /** In a shared vault: hides the size of the content, which then takes up to 12 % more. Default: false. */
  readonly padded?: boolean | undefined;
  /**
   * Size of a part in bytes, and of the largest upload in one request. An upload takes the memory of two parts: one is sent, and the next is
   * read. Default: parts of 16 MiB above 8 MiB.
   */
  readonly partBytes?: number | undefined;
}

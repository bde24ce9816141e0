/**
 * The blob port: opaque bytes under opaque keys. Held by test/suites/blob-store.ts, which every driver must pass.
 */

/** Lower-case letters, digits and dashes, 8 to 64 characters; the caller makes a new one for every blob. */
export type BlobKey = string;

export interface BlobReceipt {
  readonly size: number;
  /** SHA-256 of the stored bytes, lower-case hex. */
  readonly sha256: string;
}

/** A blob that is in memory already. */
export interface SmallBlob {
  readonly key: BlobKey;
  readonly bytes: Uint8Array;
}

export interface BlobRange {
  readonly offset: number;
  readonly length: number;
}

export interface StoredBlob {
  readonly key: BlobKey;
  readonly size: number;
  /** Milliseconds since the Unix epoch. */
  readonly modifiedAt: number;
  /** False: a partial blob that was never completed. */
  readonly complete: boolean;
}

export interface BlobStoreCapabilities {
  /** The smallest part that {@link BlobStore.append} stores without holding bytes back, 1 when there is none. */
  readonly partBytes: number;
}

/**
 * Failure contract.
 * - `put` and `complete` resolve only when the blob is durable under its key (it survives kill -9 and power loss).
 *   After a rejection nothing is readable under the key, and the written bytes are gone or listed as incomplete. A key
 *   is written once: a second `put` of the same key rejects.
 * - `append` resolves with the new durable length. A source that rejects half-way leaves the durable part of the
 *   arrived bytes: the caller asks `partialLength`. With `atomic` the partial is as before.
 * - `open` answers null for an unknown or incomplete key. `discard` and `delete` of an unknown key are no error.
 * - A full medium rejects with {@link BlobStoreFullError}. A failed flush rejects with {@link BlobStoreFaultError}.
 *   After it the store acknowledges nothing and reports itself unhealthy (fsync is not retried: the kernel may have
 *   dropped the pages). A rejecting source's own error passes through unchanged.
 */
export interface BlobStore extends AsyncDisposable {
  readonly capabilities: BlobStoreCapabilities;
  /** A chunk of `source` is copied before the next is asked for: the source may reuse its buffer. */
  put(key: BlobKey, source: AsyncIterable<Uint8Array>): Promise<BlobReceipt>;
  /**
   * Several small blobs, faster than one after the other. The receipts are in their order. All are durable when it
   * resolves; after a rejection none is readable.
   */
  putAll(blobs: readonly SmallBlob[]): Promise<BlobReceipt[]>;
  /**
   * The bytes of a range (default: all), cut where the blob ends. A yielded chunk is valid until the next-but-one is asked for: drivers reuse
   * buffers. Ending the iteration early releases everything; an iteration that never begins holds nothing.
   */
  open(key: BlobKey, range?: BlobRange): Promise<AsyncIterable<Uint8Array> | null>;
  delete(key: BlobKey): Promise<void>;

  /** Begins a partial blob of length 0. */
  begin(key: BlobKey): Promise<void>;
  /** Adds bytes at `offset`, which must be the partial's durable length and nobody else's append under way, else rejects with a RangeError. */
  append(
    key: BlobKey,
    offset: number,
    source: AsyncIterable<Uint8Array>,
    options?: { atomic?: boolean },
  ): Promise<number>;
  /**
   * Begins the partial `into` with the durable bytes of another, and answers their number: a writer of the other one
   * then writes where nobody looks. An unknown key rejects with a RangeError.
   */
  fork(key: BlobKey, into: BlobKey): Promise<number>;
  /** Durable length of a partial, null when there is none under the key. */
  partialLength(key: BlobKey): Promise<number | null>;
  /**
   * Turns the partial into a blob. Asked for again (the answer was lost in a crash) it answers the same; an unknown key
   * rejects with a RangeError.
   */
  complete(key: BlobKey): Promise<BlobReceipt>;
  /** Drops a partial and its bytes. */
  discard(key: BlobKey): Promise<void>;

  /** Everything in the store, partials included, in no order. */
  list(): AsyncIterable<StoredBlob>;
  /** Rejects when the store cannot serve (a directory is gone, a flush has failed). */
  ping(): Promise<void>;
}

export class BlobStoreFullError extends Error {
  override readonly name = "BlobStoreFullError";
}

export class BlobStoreFaultError extends Error {
  override readonly name = "BlobStoreFaultError";
}

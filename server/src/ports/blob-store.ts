/**
 * The blob port: opaque bytes under opaque keys. Held by test/suites/blob-store.ts, which every driver must pass.
 */

import type { DiskRoom } from "./disk-room.ts";
import type { Durations } from "./durations.ts";

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
  /** The smallest append that costs no more than its bytes, 1 when there is none. */
  readonly partBytes: number;
  /** Its times are by the clock of this machine, so they can be compared with the process's own. */
  readonly sharesClock: boolean;
}

export interface PutOptions {
  /** How many bytes there will be, where that is known. */
  readonly length?: number;
}

/** How long an address of a blob is good for: so much later than a request does a revoked key still read. */
export const ADDRESS_SECONDS = 60;

/** What was asked of a store that is elsewhere, for metrics. */
export interface BlobStoreTally {
  readonly operation: string;
  readonly done: number;
  /** Refused for good: there is no such object, or there is one already. */
  readonly refused: number;
  /** Not answered, or with a failure of the store; the same request may have been repeated. */
  readonly failed: number;
  readonly seconds: number;
}

/**
 * Failure contract.
 * - `put` and `complete` resolve only when the blob is durable under its key (it survives kill -9 and power loss).
 *   After a rejection nothing is readable under the key, and the written bytes are gone or listed as incomplete. A key
 *   is written once: a second `put` of the same key rejects.
 * - `append` resolves with the new durable length. A source that rejects half-way leaves the durable part of the
 *   arrived bytes: the caller asks `partialLength`. With `atomic` the partial is as before.
 * - `open` returns null for an unknown or incomplete key. `discard` and `delete` of an unknown key are no error.
 * - A store that is elsewhere and does not serve rejects with {@link BlobStoreAwayError}, once it was asked for a while. So does one on a
 *   disk that cannot be read or written, or for which the process has no file descriptors: it heals.
 * - A full medium rejects with {@link BlobStoreFullError}. A failed flush rejects with {@link BlobStoreFaultError}.
 *   After it the store acknowledges nothing and reports itself unhealthy (fsync is not retried: the kernel may have
 *   dropped the pages). A rejecting source's own error passes through unchanged.
 */
export interface BlobStore extends AsyncDisposable {
  readonly capabilities: BlobStoreCapabilities;
  /** A chunk of `source` is copied before the next is asked for: the source may reuse its buffer. */
  put(key: BlobKey, source: AsyncIterable<Uint8Array>, options?: PutOptions): Promise<BlobReceipt>;
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
  /** The same of a blob that was deleted, where the store keeps what was; null: it does not. */
  openDeleted?(key: BlobKey): Promise<AsyncIterable<Uint8Array> | null>;
  delete(key: BlobKey): Promise<void>;
  /** Deletes and discards: nothing is left under the keys. Answers those for which it failed, with the reason. */
  removeAll(keys: readonly BlobKey[]): Promise<ReadonlyMap<BlobKey, unknown>>;

  /** Begins a partial blob of length 0; `length` is what it will have in the end. */
  start(key: BlobKey, options?: PutOptions): Promise<void>;
  /** Adds bytes at `offset`, which must be the partial's durable length and nobody else's append under way, else rejects with a RangeError. */
  append(
    key: BlobKey,
    offset: number,
    source: AsyncIterable<Uint8Array>,
    options?: { atomic?: boolean },
  ): Promise<number>;
  /**
   * For a partial whose writer may come back at any moment: from then on that one writes where nobody looks. The durable
   * bytes are under the key that it returns: the same, or `into`, a new one. An unknown key rejects with a RangeError.
   */
  takeOver(key: BlobKey, into: BlobKey): Promise<BlobKey>;
  /** Durable length of a partial, null when there is none under the key. */
  partialLength(key: BlobKey): Promise<number | null>;
  /**
   * Turns the partial into a blob. Asked for again (the answer was lost in a crash) it returns the same; an unknown key
   * rejects with a RangeError.
   */
  complete(key: BlobKey): Promise<BlobReceipt>;
  /** Drops a partial and its bytes. */
  discard(key: BlobKey): Promise<void>;

  /** A short text about the store itself, which is none of its blobs; null: it has none. */
  readMark(): Promise<string | null>;
  /**
   * Replaces the mark if it is still `before` (null: there must be none). Of several who replace the same one succeeds, and the others
   * get false. Durable when it resolves; after a rejection either mark may be there.
   */
  replaceMark(before: string | null, mark: string): Promise<boolean>;

  /** Everything in the store, partials included, in no order. */
  list(): AsyncIterable<StoredBlob>;
  /** Rejects when the store cannot serve (a directory is gone, a flush has failed). */
  ping(): Promise<void>;
  /** The disk that it is on; null: it is on none of this machine. Rejects when the directory is gone. */
  diskRoom(): Promise<DiskRoom | null>;
  /**
   * An address at which anybody reads this blob for {@link ADDRESS_SECONDS}, whoever they are: it is a credential. null where the store
   * is at none of `origins`, or is not told to give addresses. It may be of a blob that is not there.
   */
  addressOf?(key: BlobKey, origins: readonly string[]): Promise<string | null>;
  /** Counts since the process began; only stores that are elsewhere have them. */
  tallies?(): readonly BlobStoreTally[];
  /** How long flushes took; only stores on a disk have them. */
  readonly flushes?: Durations;
}

/** The store cannot be reached, or does not serve now. Trying again later can succeed. */
export class BlobStoreAwayError extends Error {
  override readonly name = "BlobStoreAwayError";
}

export class BlobStoreFullError extends Error {
  override readonly name = "BlobStoreFullError";
}

export class BlobStoreFaultError extends Error {
  override readonly name = "BlobStoreFaultError";
  /** It was reported when the flush failed: the log needs no line for each request that meets it. */
  readonly known: boolean;
  constructor(message: string, more: { cause?: unknown; known?: boolean } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.known = more.known ?? false;
  }
}

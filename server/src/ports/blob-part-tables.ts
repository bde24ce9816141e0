/** Rows of a blob driver whose store has no partial blobs of its own (drivers/blobs/s3.ts). */

export interface BlobPartTables {
  readonly blob_partials: BlobPartialRow;
  readonly blob_parts: BlobPartRow;
}

/** A partial blob. Only its row says how long it is. */
export interface BlobPartialRow {
  blob_key: string;
  /** Raised when another writer takes over: what an earlier one has under way is not taken any more. */
  writer: number;
  /** Durable bytes: those of the parts and of the tail. */
  length: number;
  /** The size of whole parts. */
  part_bytes: number;
  /** The number that the next part gets. No two writers use one. */
  next_part: number;
  /** The store's name for the parts together; null: there is none yet. */
  upload_id: string | null;
  /** The end of the bytes, too short for a part: an object of its own, under this number. 0: there is none. */
  tail_bytes: number;
  tail_number: number;
  created_at: number;
  /** The blob is there, with this digest. */
  completed_at: number | null;
  sha256: string | null;
}

export interface BlobPartRow {
  blob_key: string;
  number: number;
  size: number;
  etag: string;
  sha256: string;
  /** 1: another writer left it in the store, and it is none of the blob. */
  stray: number;
}

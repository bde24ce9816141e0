/** What a member says about the name and the place of a file or folder (file-format §8). */

/** 1 file, 2 folder: what stands in the statement and in the metadata's context. */
export const ENTRY_KINDS = { file: 1, folder: 2 } as const;

export type EntryKind = keyof typeof ENTRY_KINDS;

/** The fields, in the order in which they are signed. Byte arrays have exactly the length given. */
export interface EntryFields {
  /** 32 bytes: the vault object's id. */
  readonly vault: Uint8Array;
  readonly kind: EntryKind;
  /** 16 bytes: the file's or folder's id. */
  readonly id: Uint8Array;
  /** 1 for the first entry, and one more with each. */
  readonly revision: bigint;
  /** 32 bytes: SHA-256 of the whole signed statement before this one; zeros for the first. */
  readonly previous: Uint8Array;
  readonly generation: bigint;
  /** 32 bytes: the record whose key encrypts the metadata; zeros in a vault with plain names. */
  readonly keyId: Uint8Array;
  /** 16 bytes: the folder it lies in; zeros for the root. */
  readonly folderId: Uint8Array;
  /** 32 bytes: SHA-256 of the metadata as stored. */
  readonly metadataDigest: Uint8Array;
  /** 32 bytes: the chain address whose key signed. */
  readonly signer: Uint8Array;
  /** Milliseconds since 1970, by the signer's clock. At most 2^53 - 1. */
  readonly time: number;
}

export interface EntryStatement extends EntryFields {
  /** 64 bytes. */
  readonly signature: Uint8Array;
  /** The whole signed statement, 281 bytes. */
  readonly bytes: Uint8Array;
}

export const ENTRY_STATEMENT_BYTES = 281;

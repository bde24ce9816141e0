/** What a member says about one version of a file's content (file-format §8). */

/** The fields, in the order in which they are signed. Byte arrays have exactly the length given. */
export interface VersionFields {
  /** 32 bytes: the vault object's id. */
  readonly vault: Uint8Array;
  /** The first 44 bytes of the file's header. */
  readonly header: Uint8Array;
  /** 32 bytes: SHA-256 of header and envelope. */
  readonly startDigest: Uint8Array;
  /** 1 for the file's first version, and one more with each. */
  readonly sequence: bigint;
  /** 32 bytes: SHA-256 of the whole signed statement before this one; zeros for the first. */
  readonly previous: Uint8Array;
  readonly generation: bigint;
  /** 32 bytes: SHA-256 of the record in the envelope. */
  readonly keyId: Uint8Array;
  /** 32 bytes: the message's key commitment. */
  readonly commitment: Uint8Array;
  /** Bytes of the message: what the stored file has beyond header and envelope. At most 2^53 - 1. */
  readonly messageLength: number;
  /** 32 bytes: SHA-256 of the message, or zeros where it was not computed. Never of plaintext. */
  readonly digest: Uint8Array;
  /** 32 bytes: the chain address whose key signed. */
  readonly signer: Uint8Array;
  /** Milliseconds since 1970, by the signer's clock. At most 2^53 - 1. */
  readonly time: number;
}

export interface VersionStatement extends VersionFields {
  /** 16 bytes, from the header. */
  readonly fileId: Uint8Array;
  /** 16 bytes, from the header. */
  readonly versionId: Uint8Array;
  /** 64 bytes. */
  readonly signature: Uint8Array;
  /** The whole signed statement, 364 bytes. */
  readonly bytes: Uint8Array;
}

export const VERSION_STATEMENT_BYTES = 364;

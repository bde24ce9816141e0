/** The record of a vault key: the sealed key, who made it and for which generation, signed (file-format §7). */

export interface RecordFields {
  /** 32 bytes: the vault object's id. */
  readonly vault: Uint8Array;
  readonly generation: bigint;
  /** 32 bytes: the chain address of who made the key and signs the record. */
  readonly creator: Uint8Array;
  /** 32 bytes: the key's subkey `check`. */
  readonly check: Uint8Array;
  /** 1 to 3584 bytes, as a VaultKeyWrap made it. */
  readonly sealedKey: Uint8Array;
}

export interface VaultKeyRecord extends RecordFields {
  /** 64 bytes. */
  readonly signature: Uint8Array;
  /** The whole record. */
  readonly bytes: Uint8Array;
  /** 32 bytes: SHA-256 of the whole record. */
  readonly keyId: Uint8Array;
}

export const MAX_SEALED_KEY_BYTES = 3584;

/** Signs statements and records for one chain address. An Ed25519 chain key is its own; any other signer makes one. */
export interface StatementSigner {
  /** 32 bytes, Ed25519: the signing key in the signer's entry on chain. */
  readonly publicKey: Uint8Array;
  /** The 64-byte Ed25519 signature of the 32 bytes, pure Ed25519 (RFC 8032 §5.1.6). Rejects when the key cannot be used. */
  sign(message32: Uint8Array): Promise<Uint8Array>;
}

/** A statement's maker: the chain address that it names, and the key of that address's entry. */
export interface Author {
  /** 32 bytes. */
  readonly address: Uint8Array;
  readonly signer: StatementSigner;
}

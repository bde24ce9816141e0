/**
 * The signer of a Sui personal message, for every kind of signer but one. Signatures of Ed25519 keys are checked,
 * strictly, by their callers (features/chain-proofs).
 */

export interface SignedMessage {
  /** `0x` and 64 lower-case hex digits. */
  readonly chainAddress: string;
  /** Without intent and length, which every signer adds itself. */
  readonly message: Uint8Array;
  /** Serialised as Sui does: the scheme's flag byte first. */
  readonly signature: Uint8Array;
}

export type SignatureVerdict =
  | "valid"
  /** Broken, or of another text. */
  | "invalid"
  /** The signature of a key, a set of keys or a sign-in, when the address is not its hash. */
  | "other_address"
  /** A zkLogin sign-in whose last epoch is over. */
  | "expired"
  /** An unsupported scheme; Ed25519 alone; zkLogin if {@link MessageSignatures.capabilities} has none, or inside a multisig. */
  | "unsupported";

export interface MessageSignatures {
  readonly capabilities: {
    /** A node of the chain checks zkLogin proofs: it has the epoch and the providers' keys. Every other scheme needs no network. */
    readonly zklogin: boolean;
  };
  /**
   * Failure contract. What is wrong with the signature is an answer, never an error, however it is malformed. Rejects with
   * ChainUnavailableError when the node that is needed does not answer within a few seconds, or is too far behind to be believed.
   */
  verify(signed: SignedMessage): Promise<SignatureVerdict>;
}

/**
 * Who signed a Sui personal message, for every kind of signer but one: signatures of Ed25519 keys are checked, strictly, where they are
 * asked for (features/chain-proofs).
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
  /** Of a key, a set of keys or a sign-in that the address is not the hash of. */
  | "other_address"
  /** Of a zkLogin sign-in whose last epoch is over. */
  | "expired"
  /** Of no scheme that is taken; of Ed25519 alone; of zkLogin where {@link MessageSignatures.capabilities} has none, or inside a multisig. */
  | "unsupported";

export interface MessageSignatures {
  readonly capabilities: {
    /** zkLogin proofs are checked by a node of the chain: it knows the epoch and the providers' keys. Every other scheme needs no network. */
    readonly zklogin: boolean;
  };
  /**
   * Failure contract. What is wrong with the signature is an answer, never an error, however it is malformed. Rejects with
   * ChainUnavailableError when the node that is needed does not answer within a few seconds, or is too far behind to be believed.
   */
  verify(signed: SignedMessage): Promise<SignatureVerdict>;
}

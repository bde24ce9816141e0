/** The signer: a chain key, a wallet or a zkLogin session. This package builds every byte that is signed. */
import type { Signer } from "@mysten/sui/cryptography";

/**
 * Signs for one chain address. Signatures are serialised as Sui does (flag ‖ signature ‖ public key for an Ed25519 key), in base64.
 *
 * @example
 * ```ts
 * const signer = fromSuiSigner(Ed25519Keypair.fromSecretKey(text));
 * ```
 */
export interface TransactionSigner {
  /** `0x` and 64 lower-case hex digits. */
  readonly chainAddress: string;
  /** Signs the bytes as a Sui personal message (intent 03 00 00 over their BCS form). */
  signPersonalMessage(message: Uint8Array): Promise<string>;
  /** Signs the BCS bytes of a TransactionData (intent 00 00 00). */
  signTransaction(transaction: Uint8Array): Promise<string>;
}

/** Any signer of @mysten/sui: key pairs, zkLogin, multisig, wallets. */
export function fromSuiSigner(signer: Signer): TransactionSigner {
  return {
    chainAddress: signer.toSuiAddress(),
    signPersonalMessage: async (message) => (await signer.signPersonalMessage(message)).signature,
    signTransaction: async (transaction) => (await signer.signTransaction(transaction)).signature,
  };
}

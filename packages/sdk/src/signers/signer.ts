/**
 * The signer of a chain address, and the service that a signature is for. Small: the signing code is loaded with the
 * first signature.
 */
import type { ChainNetwork } from "@coffer/contract";
import type { StatementSigner } from "@coffer/crypto";

/**
 * Holds the key of a chain address, or asks a wallet that does. The SDK makes every text itself and never passes on
 * one that the service made. It accepts every scheme of Sui: Ed25519 (`chainKeySigner`), and every signer of
 * `@mysten/sui` through `fromSuiSigner` of `@coffer/chain`. Those are secp256k1, secp256r1, passkeys, multisigs of
 * these, and zkLogin.
 *
 * @example
 * ```ts
 * import { fromSuiSigner } from "@coffer/chain";
 * const { privateKey } = await generateChainKey(); // keep it: it signs what this wallet writes in shared vaults
 * const signer: Signer = { ...fromSuiSigner(keypair), statements: await statementSigner(privateKey) };
 * const account = await client.account.linkChain(signer);
 * ```
 */
export interface Signer {
  /** `0x` and 64 lower-case hex digits. */
  readonly chainAddress: string;
  /** Signs the bytes as a Sui personal message; resolves with the serialised signature in base64. */
  signPersonalMessage(bytes: Uint8Array): Promise<string>;
  /**
   * Signs the BCS bytes of a transaction; resolves with the serialised signature in base64. Needed to create and
   * manage shared vaults.
   */
  signTransaction?(transaction: Uint8Array): Promise<string>;
  /**
   * Signs statements in shared vaults. A chain key of this SDK signs its own. For wallets and zkLogin make one with
   * `statementSigner` and keep its seed like a chain key. Default: none, so it only reads.
   */
  readonly statements?: StatementSigner | undefined;
  /** The 32-byte Ed25519 key that signs statements in vaults. Default: that of `statements`. */
  readonly signingKey?: Uint8Array | undefined;
}

/** What every signed text names besides its own subject: the service and the chain. */
export interface ServiceIdentity {
  readonly origin: string;
  readonly network: ChainNetwork;
}

/** The identity of the service at a base URL: services on this machine are on a local chain unless the client says otherwise. */
export function serviceIdentity(baseUrl: string, network?: ChainNetwork): ServiceIdentity {
  const { origin, hostname } = new URL(baseUrl);
  const loopback = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  return { origin, network: network ?? (loopback ? "localnet" : "mainnet") };
}

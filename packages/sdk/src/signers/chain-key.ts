/** Chain keys that this program holds itself. */
import type { StatementSigner } from "@coffer/crypto";
import type { Secret } from "../http/secret.ts";
import { generateKey, openSigner, openStatementSigner } from "./ed25519-signer.ts";
import type { Signer } from "./signer.ts";

/**
 * A signer over an Ed25519 private key: the 32 bytes of its seed, or the `suiprivkey1…` text that Sui's tools write.
 * The key never leaves this object or this machine; logs and inspections of the signer show its address alone.
 * @throws SdkError `configuration` for any other value.
 *
 * @example
 * ```ts
 * const { privateKey } = await generateChainKey(); // keep it: it opens shared vaults
 * const signer = await chainKeySigner(privateKey);
 * console.log(signer.chainAddress);
 * ```
 */
export async function chainKeySigner(privateKey: Uint8Array | string | Secret): Promise<Signer> {
  return openSigner(privateKey);
}

/** A chain key, and its address. */
export interface ChainKey {
  /** The key as `suiprivkey1…` text, wrapped so that no log shows it: `reveal()` it to keep it. */
  readonly privateKey: Secret;
  /** Its Sui address: `0x` and 64 lower-case hex digits. */
  readonly chainAddress: string;
}

/** Makes a new Ed25519 key on this machine. It is kept nowhere. */
export async function generateChainKey(): Promise<ChainKey> {
  return generateKey();
}

/**
 * Signs statements for a signer whose chain key cannot: a wallet, a multisig, or zkLogin. It has a key of its own, in
 * the same form as for {@link chainKeySigner}: keep it as you keep a chain key. A vault names that key when this
 * signer makes the vault. It also does when its owner adds the address with the text of the redeemed invite. Use
 * `vaults.setSigningKey` to name it at any other time, or to replace a lost one.
 * @throws SdkError `configuration` for any other value.
 *
 * @example
 * ```ts
 * const { privateKey } = await generateChainKey(); // keep it beside the wallet
 * const withStatements: Signer = { ...signer, statements: await statementSigner(privateKey) };
 * ```
 */
export async function statementSigner(privateKey: Uint8Array | string | Secret): Promise<StatementSigner> {
  return openStatementSigner(privateKey);
}

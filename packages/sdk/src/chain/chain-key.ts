/** Chain keys that this program holds itself. What signs is loaded when it is first used. */
import type { StatementSigner } from "@coffer/crypto";
import type { Secret } from "../secret.ts";
import type { Signer } from "./signer.ts";

/**
 * A signer over an Ed25519 private key: the 32 bytes of its seed, or the `suiprivkey1…` text that Sui's tools write. The key leaves
 * neither this object nor this machine; what logs or inspects the signer sees its address alone.
 * @throws SdkError `configuration` for what is no such key.
 *
 * @example
 * ```ts
 * const { privateKey } = await generateChainKey(); // keep it: it opens shared vaults
 * const signer = await chainKeySigner(privateKey);
 * console.log(signer.chainAddress);
 * ```
 */
export async function chainKeySigner(privateKey: Uint8Array | string | Secret): Promise<Signer> {
  return (await import("./ed25519-signer.ts")).openSigner(privateKey);
}

/** A new key: `privateKey` as `suiprivkey1…` text, wrapped so that no log shows it; `reveal()` it to keep it. */
export async function generateChainKey(): Promise<{ readonly privateKey: Secret; readonly chainAddress: string }> {
  return (await import("./ed25519-signer.ts")).generateKey();
}

/**
 * What signs the statements of a signer whose chain key cannot: a wallet's, a multisig's, or zkLogin's. Over a key of its own, given as
 * {@link chainKeySigner} takes it: keep it as you keep a chain key. A vault names it when this signer makes the vault, when its owner adds the
 * address with the text of the redeemed invite, and by `vaults.setSigningKey`, which also names another one when it is lost.
 * @throws SdkError `configuration` for what is no such key.
 *
 * @example
 * ```ts
 * const { privateKey } = await generateChainKey(); // keep it beside the wallet
 * const withStatements: Signer = { ...signer, statements: await statementSigner(privateKey) };
 * ```
 */
export async function statementSigner(privateKey: Uint8Array | string | Secret): Promise<StatementSigner> {
  return (await import("./ed25519-signer.ts")).openStatementSigner(privateKey);
}

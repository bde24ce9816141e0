/**
 * `@coffer/sdk/shared`: what a client needs for shared vaults, as a value. A program that does not import it carries
 * no chain. It needs the package `@coffer/chain`, which `@coffer/sdk` does not install.
 * @packageDocumentation
 */
import { loadCode } from "../connection/load-code.ts";
import { requireNetwork } from "../connection/network-option.ts";
import type { SharedVaultOptions, SharedVaults } from "../connection/options.ts";
import type { NetworkCheck } from "./network-check.ts";

export type { SharedVaultOptions, SharedVaults } from "../connection/options.ts";
export type { NetworkCheck } from "./network-check.ts";
export { memoryStore } from "../store/memory-store.ts";
export { followTable, rowsOf, type TableCopy } from "../store/profile-store.ts";
export { pinStore } from "./trust/pin-store.ts";
export type { SeenStoreOptions } from "./trust/seen-store.ts";
export { vaultStores, type VaultStores } from "./vault-stores.ts";

/**
 * The value of `sharedVaults` for `createClient`. Sends nothing, and loads nothing yet.
 * @throws SdkError `configuration` when the network was not parsed. The first call about a shared vault fails with
 * `configuration` if `@coffer/chain` is not installed.
 *
 * @example
 * ```ts
 * const client = createClient({ baseUrl, credentials: { apiKey }, sharedVaults: sharedVaults({ signer, network }) });
 * ```
 */
export function sharedVaults(options: SharedVaultOptions): SharedVaults {
  requireNetwork(options.network);
  return { ...options, code: loadCode };
}

/**
 * Whether the chain node and the key servers of the network answer, within a few seconds and without a vault. Never rejects for what it finds.
 * @throws SdkError `configuration` if `@coffer/chain` is not installed.
 *
 * @example
 * ```ts
 * const { chain, keyServers } = await checkNetwork(sharedVaults({ signer, network }));
 * if (chain.state !== "ok") console.log(chain.nextStep);
 * ```
 */
export async function checkNetwork(vaults: SharedVaults): Promise<NetworkCheck> {
  const { checkNetworkOf } = await loadCode();
  return await checkNetworkOf(vaults);
}

/** Shared vaults from the settings of this machine: the chain key, the network's file, and the profile store. */
import { nodePlatform } from "@coffer/crypto/node";
import { chainKeySigner } from "../signers/chain-key.ts";
import { configurationError } from "../http/errors.ts";
import type { SharedVaults } from "../connection/options.ts";
import { sharedVaults } from "../shared-vaults/index.ts";
import { readNetworkFile } from "./config/network-file.ts";
import { fileErrorCode } from "./store/durable-file.ts";
import { fileStore } from "./store/file-store.ts";
import type { Settings } from "./config/settings.ts";
import type { ProfileStore } from "../store/profile-store.ts";
import { vaultStores } from "../shared-vaults/vault-stores.ts";

/**
 * The value of `sharedVaults` for `createClient`; null when the settings name neither a chain key nor a network. `store`
 * keeps pins, seen statements, indexes of names, unfinished creations and unfinished uploads.
 * @throws SdkError `configuration` when one of the two is missing or unusable.
 *
 * @example
 * ```ts
 * const settings = await resolveSettings();
 * const opened = await openSharedVaults(settings);
 * const client = createClient({ baseUrl, credentials, ...(opened === null ? {} : { sharedVaults: opened }) });
 * ```
 */
export async function openSharedVaults(
  { chainPrivateKey, networkFile }: Pick<Settings, "chainPrivateKey" | "networkFile">,
  store: ProfileStore = fileStore(),
): Promise<SharedVaults | null> {
  if (chainPrivateKey === null && networkFile === null) return null;
  if (chainPrivateKey === null)
    throw configurationError(
      "Shared vaults need a chain key: set SERVICE_CHAIN_PRIVATE_KEY, or keep one in the profile",
    );
  if (networkFile === null)
    throw configurationError("Shared vaults need a network: set SERVICE_NETWORK_FILE to its configuration file");
  const [signer, { network, digest }] = await Promise.all([
    chainKeySigner(chainPrivateKey),
    readNetworkFile(networkFile),
  ]);
  return sharedVaults({
    signer,
    network,
    networkDigest: digest,
    platform: nodePlatform,
    ...vaultStores(store, { onUnwritten: warn }),
  });
}

function warn(error: unknown): void {
  const message = "What was seen of a vault cannot be written, and only this process remembers it";
  process.emitWarning(`${message} (${fileErrorCode(error) ?? String(error)})`, { code: "COFFER_SEEN" });
}

/** Shared vaults from the settings of this machine: the chain key, the network's file, and the pins. */
import { nodePlatform } from "@coffer/crypto/node";
import { dirname, join } from "node:path";
import { chainKeySigner } from "../signers/chain-key.ts";
import { configurationError } from "../http/errors.ts";
import type { SharedVaults } from "../connection/options.ts";
import { sharedVaults } from "../shared-vaults/index.ts";
import { fileCreations } from "./store/creation-file.ts";
import { fileNames } from "./store/name-files.ts";
import { readNetworkFile } from "./config/network-file.ts";
import { filePins, pinFile } from "./store/pin-file.ts";
import { fileSeen } from "./store/seen-file.ts";
import type { Settings } from "./config/settings.ts";
import { fileUploadJournals } from "./store/upload-journals.ts";

/**
 * The value of `sharedVaults` for `createClient`; null when the settings name neither a chain key nor a network. The
 * directory of `pins` also keeps seen statements, indexes of names, unfinished creations and unfinished uploads.
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
  pins: string = pinFile(),
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
    pins: filePins(pins),
    creations: fileCreations(join(dirname(pins), "vault-creations.json")),
    names: fileNames(join(dirname(pins), "vault-names")),
    seen: fileSeen(join(dirname(pins), "vault-seen")),
    uploads: fileUploadJournals(join(dirname(pins), "uploads")),
  });
}

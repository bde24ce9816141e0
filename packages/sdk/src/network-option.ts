/** The network of shared vaults, as JavaScript passes it. */
import { configurationError } from "./errors.ts";

/**
 * Refuses what is no parsed network: the path or the text of its file, a promise, a name. Its fields were checked where it was parsed.
 * @throws SdkError `configuration`, which tells nothing of it: it may hold API keys of key servers.
 */
export function requireNetwork(network: unknown): void {
  const { grpcUrl, keyServerSets } = (network ?? {}) as Record<string, unknown>;
  if (typeof grpcUrl !== "string" || !Array.isArray(keyServerSets))
    throw configurationError(
      "The network must be what parseNetworkConfiguration of @coffer/chain gives, or come with openSharedVaults of @coffer/sdk/node",
    );
}

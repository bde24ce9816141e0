/** The network of shared vaults, as a JavaScript caller passes it. */
import { configurationError } from "../http/errors.ts";

/**
 * Refuses anything but a parsed network: the path or the text of its file, a promise, a name. Its fields were checked
 * when it was parsed.
 * @throws SdkError `configuration`, which shows no part of it: it may hold API keys of key servers.
 */
export function requireNetwork(network: unknown): void {
  const { grpcUrl, keyServerSets } = (network ?? {}) as Record<string, unknown>;
  if (typeof grpcUrl !== "string" || !Array.isArray(keyServerSets))
    throw configurationError(
      "The network must be what parseNetworkConfiguration of @coffer/chain gives, or come with openSharedVaults of @coffer/sdk/node",
    );
}

import { chainKeySigner, createClient, type Client } from "@coffer/sdk";
import { sharedVaults } from "@coffer/sdk/shared";
import networkFile from "./network.json"; // of the operator: SERVICE_NETWORK_FILE

/** The keys are the visitor's own: no build holds them. */
export async function openClient(apiKey: string, chainKey: string): Promise<Client> {
  // Not with the page's first file: the chain is as large as all the rest.
  const { parseNetworkConfiguration } = await import("@coffer/chain");
  const network = parseNetworkConfiguration(networkFile);
  return createClient({
    baseUrl: import.meta.env.VITE_SERVICE_URL,
    credentials: { apiKey },
    sharedVaults: sharedVaults({ signer: await chainKeySigner(chainKey), network }),
  });
}

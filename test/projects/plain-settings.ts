/** Settings and shared vaults from an environment that is given, where a program has no files of its machine: Workers, and pages. */
import { parseNetworkConfiguration } from "@coffer/chain";
import { chainKeySigner } from "@coffer/sdk";
import { sharedVaults } from "@coffer/sdk/shared";
import type { Project } from "./scenario.js";

export interface PlainEnvironment {
  readonly SERVICE_BASE_URL?: string;
  readonly SERVICE_API_KEY?: string;
  readonly SERVICE_CHAIN_PRIVATE_KEY?: string;
  /** The text of the network configuration. */
  readonly NETWORK?: string;
}

export async function openPlain(environment: PlainEnvironment): Promise<Pick<Project, "settings" | "sharedVaults">> {
  const { SERVICE_BASE_URL: baseUrl = null, SERVICE_API_KEY: apiKey = null } = environment;
  const signer = await chainKeySigner(environment.SERVICE_CHAIN_PRIVATE_KEY ?? "");
  const network = parseNetworkConfiguration(JSON.parse(environment.NETWORK ?? "null"));
  return { settings: { baseUrl, apiKey }, sharedVaults: sharedVaults({ signer, network }) };
}

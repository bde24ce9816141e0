import { createClient, type Client } from "@coffer/sdk";
import { openSharedVaults, resolveSettings } from "@coffer/sdk/node";

let client: Promise<Client> | undefined;

/** One client for all requests of this process: it remembers the vaults that it has opened. */
export function coffer(): Promise<Client> {
  return (client ??= open());
}

async function open(): Promise<Client> {
  const settings = await resolveSettings(); // the profile, or SERVICE_BASE_URL and the other variables
  const { baseUrl, apiKey } = settings;
  const sharedVaults = await openSharedVaults(settings);
  if (baseUrl === null || sharedVaults === null) throw new Error("sign up first, with a network");
  return createClient({ baseUrl, credentials: apiKey, sharedVaults });
}
